"""The scripts of the pictures: clean, typed, tested under node, and told the same as Python tells them."""

import importlib
import json
import re
import shutil
import struct
import subprocess
import typing
from pathlib import Path

import numpy as np
import pytest

from pages.shared.pictures import figures, live

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = sorted(path for path in (ROOT / "pages").rglob("*.js") if "live/base.js" in path.read_text("utf8"))


TYPES = {"float16": "Float32Array", "float32": "Float32Array", "float64": "Float64Array"}
TYPES |= {"int32": "Int32Array", "uint8": "Uint8Array"}


def run(*command, stdin=b""):
    assert shutil.which("node"), "no node found: `apt-get install nodejs npm`"
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, check=False)


def tool(name):
    path = HERE / "node_modules" / ".bin" / name
    assert path.exists(), "`npm ci` in tests/js installs what checks the scripts"
    return str(path)


@pytest.mark.parametrize(
    "command",
    [
        ("eslint", "--config", "tests/js/eslint.config.js", "pages", "tests/js"),
        ("tsc", "--project", "tests/js/tsconfig.json"),
    ],
    ids=["lint", "types"],
)
def test_the_scripts_are_clean(command):
    done = run(tool(command[0]), *command[1:])
    assert done.returncode == 0, done.stdout.decode()


def test_the_scripts_pass_their_own_tests():
    done = run("node", "--test", *(str(path) for path in sorted(HERE.glob("*.test.js"))))
    assert done.returncode == 0, done.stdout.decode()


def keys_of_the_script(script):
    """{name: keys} of every typedef that tells what Python says: those after `@typedef {object}`."""
    blocks = re.findall(r"@typedef \{object\} (\w+)\n((?: \* @property .*\n)+)", script.read_text("utf8"))
    return {name: set(re.findall(r"@property \{.*\} \[?(\w+)\]?", body)) for name, body in blocks}


def told(kind):
    return set(typing.get_type_hints(kind))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_python_and_the_script_know_the_same_keys(script):
    module = importlib.import_module(".".join(script.parent.relative_to(ROOT).parts))
    kind = {"order": "OrderMeta", "ruler": "RulerMeta"}.get(script.stem, "Meta")
    assert keys_of_the_script(script) == {"Own": told(getattr(module, kind))}


def test_python_and_the_base_know_the_same_keys():
    base = keys_of_the_script(Path(live.__file__).parent / "base.js")
    assert base == {"Common": told(live.Common), "Dial": told(live.Dial)}


def test_one_word_does_not_mean_two_things():
    """What a picture is told once, and what a visitor changes, have names of their own."""
    states = {"cell", "row", "tile", "piece", "pair", "move", "at", "block", "head"}
    for script in SCRIPTS:
        own = keys_of_the_script(script)["Own"] & states
        assert own <= {"row"}, script  # the row that Python follows is the one that a visitor may choose


def test_what_python_packs_node_unpacks():
    values = np.random.default_rng(1).normal(size=(3, 7))
    arrays = {
        "half": values.astype(np.float16),
        "single": values.astype(np.float32),
        "double": values,
        "whole": np.array([2**31 - 1, -(2**31)], np.int32),
        "byte": np.arange(5, dtype=np.uint8),
        "counts": np.arange(200.0, dtype=np.float32),
        "mask": np.tile(np.eye(20, dtype=np.float32), (3, 1, 1)),
        "halves": np.r_[values.ravel().astype(np.float16), np.full(200, np.inf)].astype(np.float64).reshape(13, 17),
        "negative": np.arange(-99, 99, dtype=np.int32),
        "again": np.repeat(values.astype(np.float32), 40, 0),
    }
    meta = {"text": "你好 \u2028 </script>", "none": None, "at": [1, 2.5]}
    done = run("node", str(HERE / "unpacked.js"), stdin=live.pack(meta, arrays))
    found = json.loads(done.stdout)
    assert found["meta"] == meta
    for name, array in arrays.items():
        again = found["arrays"][name]
        assert tuple(again["shape"]) == array.shape
        assert again["type"] == TYPES[array.dtype.name], "what a painter reads does not depend on how it travelled"
        wanted = array.astype(np.float32) if name == "half" else array
        read = [float(x.replace("Infinity", "inf")) for x in again["values"]]
        np.testing.assert_array_equal(np.array(read).astype(wanted.dtype), wanted.ravel())


def test_half_floats_are_what_numpy_says():
    bits = np.arange(65536, dtype=np.uint16)
    done = run("node", str(HERE / "unpacked.js"), stdin=live.pack({}, {"all": bits.view(np.float16)}))
    found = json.loads(done.stdout)["arrays"]["all"]["values"]
    wanted = bits.view(np.float16).astype(np.float32)
    again = np.array([float(x.replace("Infinity", "inf")) for x in found], np.float32)
    np.testing.assert_array_equal(again, wanted)


ROW = {"name": "x", "kind": "f4", "shape": [3, 2]}
ROW["parts"] = [{"sent": "f2", "size": 4, "at": 256}, {"sent": "u1", "size": 3, "at": 264}]


def test_what_node_packs_python_unpacks():
    """The layout written out once more by hand: length, head, arrays on multiples of eight."""
    head = json.dumps({"meta": {"a": 1}, "arrays": [ROW]}).encode()
    block = struct.pack("<I", len(head)) + head
    block = block.ljust(256, b" ") + struct.pack("<4e3B", 0.5, -2.0, 0.0, 7.0, 1, 0, 1)
    meta, arrays = live.unpack(block)
    assert meta == {"a": 1}
    np.testing.assert_array_equal(arrays["x"], np.array([[0, 7], [0.5, -2], [0, 7]], np.float32))
    assert arrays["x"].dtype == np.float32


@pytest.mark.parametrize(("x", "text"), json.loads((HERE / "numbers.json").read_text("utf8")))
def test_a_number_is_written_the_same_on_both_sides(x, text):
    assert figures.number(x) == text


def test_numbers_that_are_none():
    assert [figures.number(x) for x in (float("nan"), float("inf"), float("-inf"))] == ["NaN", "∞", "−∞"]
