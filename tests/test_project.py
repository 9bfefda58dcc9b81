"""What a stranger relies on before any code runs: documents, versions and locks that agree with each other."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from PIL import Image

import core
from tests.spoken import ROOT

MB = 1e6


def read(name):
    return (ROOT / name).read_text("utf8")


# ---- versions ----


def test_one_version():
    cited = yaml.safe_load(read("CITATION.cff"))
    newest = re.search(r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.M)
    assert newest[1] == core.__version__ == cited["version"]
    assert newest[2] == str(cited["date-released"])
    assert Version(core.__version__) >= Version("0.2.0")


def test_releases_stand_in_order():
    versions = [Version(found) for found in re.findall(r"^## (\S+) ", read("CHANGELOG.md"), re.M)]
    assert versions == sorted(set(versions), reverse=True)


def test_one_oldest_python():
    oldest = re.search(r"v < \((\d+), (\d+)\)", read("Makefile")).groups()
    dotted = ".".join(oldest)
    assert tomllib.loads(read(".ruff.toml"))["target-version"] == "py" + "".join(oldest)
    for name in ("README.md", "README.zh.md"):
        assert f"Python {dotted}" in read(name), name
    assert f"Python {dotted} or newer" in read("requirements.txt")
    assert f"--python-version {dotted}" in read("Makefile")
    jobs = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]
    assert {job["strategy"]["matrix"]["python"][0] for job in jobs.values()} == {dotted}


# ---- requirements ----


def ranges(name):
    lines = [line.split("#")[0].strip() for line in read(name).splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def locked(name):
    """name -> the exact versions; a package may have one for each Python."""
    found = {}
    for block in re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", read(name), flags=re.M)):
        line, *rest = block.split(" \\\n")
        requirement = Requirement(line)
        assert all(re.match(r"\s+--hash=sha256:[0-9a-f]{64}", part) for part in rest), line
        assert rest, f"{line} has no hash"
        found.setdefault(requirement.name.lower(), []).append(Version(str(requirement.specifier).removeprefix("==")))
    return found


@pytest.mark.parametrize(("asked", "lock"), [("requirements.txt", "app"), ("tests/requirements.txt", "tests")])
def test_a_lock_holds_what_is_asked_for(asked, lock):
    """`make lock` after a change to a requirements.txt."""
    held = locked(f"deploy/{lock}.lock")
    for requirement in ranges("requirements.txt") + ranges(asked):
        if requirement.name == "torch":
            continue
        assert all(version in requirement.specifier for version in held[requirement.name.lower()]), requirement
    assert not [name for name in held if re.match(r"torch$|nvidia|cuda|triton", name)], "their files differ by index"
    assert "sympy" in held, "what else torch needs is locked"


def test_both_locks_hold_the_same_versions():
    app, tests = locked("deploy/app.lock"), locked("deploy/tests.lock")
    assert {name: tests.get(name) for name in app} == app


def test_torch_is_exact_everywhere():
    (torch,) = [r for r in ranges("requirements.txt") if r.name == "torch"]
    assert re.fullmatch(r"==\d+\.\d+\.\d+", str(torch.specifier))
    assert "grep '^torch==' requirements.txt" in read("Makefile")
    assert "grep '^torch==' requirements.txt" in read("deploy/Dockerfile")


# ---- documents ----

READMES = ("README.md", "README.zh.md")


def test_the_readmes_have_one_shape():
    """Headings, tables, commands, links and pictures, in the same order."""
    shapes = []
    for name in READMES:
        text = read(name).split("\n\n", 2)[2]  # past the title and the link to the other
        shapes.append(
            [
                re.findall(r"^(#+) ", text, re.M),
                [len(table.splitlines()) for table in re.findall(r"(?:^\|.*\n?)+", text, re.M)],
                re.findall(r"^    (\S+.*?)(?:  +.*)?$", text, re.M),
                re.findall(r"\]\(([^)]+)\)", text),
                sorted(re.findall(r"`[^`]+`", text)),
            ]
        )
    for english, chinese in zip(*shapes, strict=True):
        assert english == chinese


def test_every_page_is_in_the_readmes():
    from pages.shared import frame
    from pages.shared.text import labels

    for name, said in zip(READMES, (lambda word: word, labels("zh").__getitem__), strict=True):
        rooms = re.findall(r"^\| (.+?) \|", read(name).split("pages.webp)")[1].split("\n## ")[0], re.M)[1:]
        titles = [said(entry.title) for entry in frame.entries()]
        assert len(rooms) == len(titles)
        for room, title in zip(rooms, titles, strict=True):
            assert title.startswith(room), (name, room, title)


@pytest.mark.parametrize("name", [*READMES, "CONTRIBUTING.md"])
def test_what_a_document_names_is_there(name):
    text = read(name)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:core|pages|tests|assets|deploy)/[\w./]+)`", text):
        if "norms" not in path and "_x" not in path:  # the page that is to be added
            assert (ROOT / path).exists(), path
    for path in re.findall(r"^    ((?:core|pages|tests|assets|deploy|app)[\w/.]*)", text, re.M):
        fixed = path.replace("/x/", "/").replace("NN_x.py", "")
        assert (ROOT / fixed).exists(), path


def test_what_make_is_said_to_do_it_does():
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.M))
    for name in (*READMES, "CONTRIBUTING.md"):
        said = set(re.findall(r"(?:`|^    )make ([a-z]+)", read(name), re.M))
        assert said <= targets, name


def test_the_pictures_load_quickly_and_show_every_page():
    from pages.shared import frame

    files = [ROOT / "assets" / name for name in ("pages.webp", "moving.webp")]
    assert sum(file.stat().st_size for file in files) <= 3 * MB
    with Image.open(files[1]) as moving:
        assert moving.n_frames > 10 * (len(frame.entries()) - 1)


def test_the_container_carries_what_the_app_reads():
    let_in = set(re.findall(r"^!(\S+)$", read(".dockerignore"), re.M))
    copied = {
        word for line in re.findall(r"^COPY (.+)$", read("deploy/Dockerfile"), re.M) for word in line.split()[:-1]
    }
    assert copied == let_in
    assert {"app.py", ".streamlit", "assets", "core", "pages"} <= copied
    assert re.search(r"^USER (?!root)", read("deploy/Dockerfile"), re.M)
    assert "_stcore/health" in read("deploy/Dockerfile")
