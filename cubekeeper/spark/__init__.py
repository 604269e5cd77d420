"""Spark and Delta: the only room that imports pyspark.

`settings` says what is wanted, `java`, `jars` and `archive` what the machine must have, `jvm`
starts Spark's JVM, and `session` gives the session. `installation` brings a machine into that state
once; nothing is downloaded at run time.
"""
