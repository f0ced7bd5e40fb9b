"""What torch's extension builder wrote for ninja, read as data: what is taken over, what is refused, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_server import recipes
from mcp_server.recipes import Recipe, Refused, Uncaught

if TYPE_CHECKING:
    from pathlib import Path

NINJA = """ninja_required_version = 1.3
cxx = c++

cflags = {cflags}
post_cflags =
cuda_dlink_post_cflags =
sycl_dlink_post_cflags =
ldflags = -shared -L/usr/lib -lc10 {ldflags}

rule compile
  command = $cxx -MMD -MF $out.d $cflags -c $in -o $out $post_cflags
  depfile = $out.d
  deps = gcc

rule link
  command = $cxx $in $ldflags -o $out

build main.o: compile {source}
build add.so: link main.o

default add.so
"""
USUAL = "-DTORCH_EXTENSION_NAME=add -DTORCH_API_INCLUDE_EXTENSION_H -isystem /usr/include -fPIC -std=c++20"


def written(
    folder: Path, cflags: str = USUAL, ldflags: str = "", source: str = "/scratch/x/main.cpp"
) -> Path:
    """Write what torch would have written."""
    (folder / "main.cpp").write_text("int add(int a, int b) { return a + b; }\n")
    text = NINJA.format(cflags=cflags, ldflags=ldflags, source=source)
    (folder / "build.ninja").write_text(text)
    return folder


def read(folder: Path) -> Recipe:
    return recipes.read(folder, "/scratch/x", ["/usr"])


def test_the_usual_form_becomes_sources_flags_and_a_digest(tmp_path: Path) -> None:
    found = read(written(tmp_path))
    assert (found.target, [s.name for s in found.sources]) == ("add.so", ["main.cpp"])
    assert "-fPIC" in found.flags["cflags"]
    assert found.digest == read(written(tmp_path)).digest


@pytest.mark.parametrize("change", ["text", "flag", "library"])
def test_any_change_changes_the_digest(tmp_path: Path, change: str) -> None:
    before = read(written(tmp_path)).digest
    match change:
        case "text":
            written(tmp_path)
            (tmp_path / "main.cpp").write_text("int add(int a, int b) { return b + a; }\n")
        case "flag":
            written(tmp_path, USUAL + " -O3")
        case _:
            written(tmp_path, ldflags="-lcublas")
    assert read(tmp_path).digest != before


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=./x.so",
        "-B.",
        "-specs=x",
        "-wrapper sh",
        "@flags",
        "-Xcompiler -fplugin=x.so",
        "-ccbin=./cc",
        "--compiler-bindir=.",
        "-Wl,@x",
    ],
)
def test_flags_that_run_other_programs_are_refused_by_name(tmp_path: Path, flag: str) -> None:
    with pytest.raises(Refused, match="not allowed: leave it out"):
        read(written(tmp_path, f"{USUAL} {flag}"))


@pytest.mark.parametrize(
    "flag",
    [
        "-O3",
        "-ffast-math",
        "-march=native",
        "-fopenmp",
        "--use_fast_math",
        "-lineinfo",
        "-Xptxas -v,-dlcm=cg",
        "-gencode=arch=compute_90a,code=sm_90a",
        "-D__CUDA_NO_HALF_OPERATORS__",
        "-maxrregcount=64",
        "--threads 4",
        "-std=c++17",
        "-Wno-unused",
        "--expt-relaxed-constexpr",
        "-DNAME='\"x\"'",
    ],
)
def test_flags_that_honest_authors_use_are_taken(tmp_path: Path, flag: str) -> None:
    assert read(written(tmp_path, f"{USUAL} {flag}")).sources


def test_what_is_merely_unknown_is_left_to_the_candidates_own_sandbox(tmp_path: Path) -> None:
    for cflags in (f"{USUAL} --some-new-flag", f"{USUAL} -I/home/me", f"{USUAL} -isystem /etc"):
        with pytest.raises(Uncaught):
            read(written(tmp_path, cflags))
    with pytest.raises(Uncaught):
        read(written(tmp_path, source="/etc/passwd"))
    with pytest.raises(Uncaught):
        read(written(tmp_path, source="/scratch/x/../y/main.cpp"))


def test_a_source_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "secret").write_text("key")
    (tmp_path / "main.cpp").unlink()
    (tmp_path / "main.cpp").symlink_to(tmp_path / "secret")
    with pytest.raises(Uncaught, match="cannot be read"):
        read(tmp_path)


def test_headers_beside_the_source_leave_the_build_where_they_are(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "mine.h").write_text("")
    with pytest.raises(Uncaught, match="headers of its own"):
        read(tmp_path)
