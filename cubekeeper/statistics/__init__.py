"""What is known about sizes and costs."""
