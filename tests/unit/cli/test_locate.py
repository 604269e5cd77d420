"""Which warehouse is meant."""

from pathlib import Path

import pytest

from cubekeeper.cli.locate import find_upward, locate
from cubekeeper.errors import InputError


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CUBEKEEPER_WAREHOUSE", raising=False)
    (tmp_path / "shop" / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "shop" / "warehouse.yml").write_text("")
    monkeypatch.chdir(tmp_path / "shop" / "deep" / "deeper")
    return tmp_path / "shop"


def test_the_nearest_folder_upward_is_found(shop: Path):
    assert locate(None).resolve() == shop
    assert str(locate(None)) == "../.."


def test_in_the_folder_itself_it_is_the_current_one(shop: Path, monkeypatch):
    monkeypatch.chdir(shop)
    assert str(locate(None)) == "."


def test_a_nearer_one_wins(shop: Path):
    (shop / "deep" / "cubekeeper.yaml").write_text("")
    assert locate(None).resolve() == shop / "deep" / "cubekeeper.yaml"
    (shop / "deep" / "deeper" / "warehouse.yaml").write_text("")
    assert locate(None).resolve() == shop / "deep" / "deeper"


def test_a_folder_of_that_name_is_no_mark(shop: Path):
    (shop / "deep" / "warehouse.yml").mkdir()
    assert locate(None).resolve() == shop


def test_the_variable_comes_before_the_search_and_after_the_argument(shop: Path, monkeypatch):
    other = shop.parent / "other.yml"
    other.write_text("")
    monkeypatch.setenv("CUBEKEEPER_WAREHOUSE", str(other))
    assert locate(None) == other
    assert locate("..") == Path("..")


def test_nothing_found(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("CUBEKEEPER_WAREHOUSE", raising=False)
    monkeypatch.chdir(tmp_path)
    if find_upward(tmp_path):
        pytest.skip("a warehouse lies above the temporary folder")
    with pytest.raises(InputError, match=r"no `warehouse\.yml` in this folder or any folder above"):
        locate(None)


@pytest.mark.usefixtures("shop")
def test_a_missing_path_names_its_neighbour():
    with pytest.raises(InputError) as caught:
        locate("../../warehose.yml")
    assert caught.value.hint == "did you mean `warehouse.yml`?"


@pytest.mark.parametrize("given", ["", "nowhere"])
def test_what_does_not_exist_is_never_replaced_by_the_search(shop: Path, given):
    assert locate(None).resolve() == shop
    with pytest.raises(InputError, match=f"`{given}` does not exist"):
        locate(given)


def test_a_device_is_no_warehouse():
    with pytest.raises(InputError, match="neither a folder nor a file"):
        locate("/dev/zero")


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("CUBEKEEPER_WAREHOUSE", raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(InputError, match="no longer there"):
        locate(None)


@pytest.mark.usefixtures("shop")
def test_a_missing_path_of_the_variable_is_told_apart(monkeypatch):
    monkeypatch.setenv("CUBEKEEPER_WAREHOUSE", "nowhere/at/all")
    with pytest.raises(InputError, match="which CUBEKEEPER_WAREHOUSE names, does not exist"):
        locate(None)
