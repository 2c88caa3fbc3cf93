#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian package and uses it. Usage: check_package.py CPACK BUILD_FOLDER [--debootstrap]

Unpacks it into an empty folder, moves that to a path with a blank, and runs weft from there with hardly any environment. With
--debootstrap (as root, from the mirror of this system or of WEFT_MIRROR) it is installed by apt in a Debian of its own.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CLONE_NEWNS = 0x20000  # Of unshare(2).
PROGRAM = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ++rank;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) printf("sum %d\\n", sum);
  return MPI_Finalize();
}
"""
# A compiler looks for its linker in PATH.
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
FILES = ("bin/weft", "bin/weft-cc", "share/man/man1/weft.1.gz", "share/man/man1/weft-doctor.1.gz",
         "share/bash-completion/completions/weft", "share/zsh/vendor-completions/_weft",
         "share/fish/vendor_completions.d/weft.fish", "share/doc/weft/copyright", "share/doc/weft/LICENSE",
         "share/doc/weft/changelog.gz", "share/doc/weft/docs/reference/network-file.md", "share/weft/presets/nsim-torus.toml")
FIELDS = {"Package": "weft", "Section": "science", "Priority": "optional", "Depends": "libc6 ",
          "Description": "predicts how interconnection networks carry messages", "Recommends": "clang-14"}


def run(words, code=0, **more):
    words = list(map(str, words))
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, **{"timeout": 240, **more})
    if code is not None and done.returncode != code:
        sys.exit(f"FAILED: {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def make_package(cpack, build, folder):
    run([cpack, "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", folder,
         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none"])
    packages = list(folder.glob("*.deb"))
    expect(len(packages) == 1 and re.fullmatch(r"weft_[\d.]+_\w+\.deb", packages[0].name), f"{packages}")
    for field, wanted in FIELDS.items():
        told = run(["dpkg-deb", "-f", packages[0], field])
        expect(wanted in told, f"{field}: {told}")
    return packages[0]


def use(weft, folder, **how):
    """The first commands of a newcomer; `weft` is a command's beginning, `folder` a place for files."""
    expect("nodes              16" in run(weft + ["net", "torus:4x4"], **how), "weft net")
    table = run(weft + ["traffic", "--net", "mesh:4x4", "--load", "0.1"], **how)
    expect("0.1" in table, table)
    run(weft + ["cc", "-O1", f"{folder}/sum.c", "-o", f"{folder}/sum"], **how)
    record = f"{folder}/record"
    simulated = run(weft + ["sim", "-q", "--net", "mesh:4x4", "--payload", "full", "--record", record, f"{folder}/sum"], **how)
    expect(simulated == "sum 136\n", simulated)
    expect("MPI_Allreduce" in run(weft + ["report", record, "--table", "calls"], **how), "weft report --table")
    expect(run(weft + ["run", "-n", "2", f"{folder}/sum"], **how) == "sum 3\n", "weft run")
    expect("[link]" in run(weft + ["help", "network-file"], **how), "weft help")
    report = json.loads(run(weft + ["doctor", "--format", "json"], **how))
    return {check["name"]: check for check in report["checks"]}


def check_unpacked(package, folder, build):
    run(["dpkg-deb", "-x", package, folder / "root"])
    prefix = folder / "another place"
    (folder / "root/usr").rename(prefix)
    for name in FILES:
        expect((prefix / name).exists(), f"{name} is not in the package")
    if (build / "share/weft/report.html").exists():  # Unless it was built with -DWEFT_WEB=OFF.
        expect((prefix / "share/weft/report.html").exists(), "the template of pages is not in the package")
    for path in prefix.rglob("*"):
        expect(not path.is_symlink() or path.exists(), f"{path} leads nowhere")
    (folder / "sum.c").write_text(PROGRAM)
    weft = [prefix / "bin/weft"]
    checks = use(weft, folder, env=ENVIRONMENT, cwd="/")
    for name in ("MPI library", "mpi.h", "texts", "weft cc"):
        expect(checks[name]["state"] == "ok", checks[name])
    expect(str(prefix) in checks["MPI library"]["found"], checks["MPI library"])
    # What is taken away is missed, and nothing else.
    library = next(prefix.glob("lib/**/weft/libmpi_abi.so"))
    (prefix / "include/weft-mpi/mpi.h").unlink()
    for plugin in library.parent.glob("weft-*.so"):
        plugin.unlink()
    report = json.loads(run(weft + ["doctor", "--format", "json"], code=1, env=ENVIRONMENT))
    states = {check["name"]: check["state"] for check in report["checks"]}
    expect(states["mpi.h"] == "missing" and states["weft cc"] == "missing", states)
    expect(states["MPI library"] == "ok" and states["PMIx"] == "note" and states["libfabric"] == "note", states)


def system():
    """Name and mirror of the Debian that we run on."""
    told = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    mirror = os.environ.get("WEFT_MIRROR", "")
    for source in [*pathlib.Path("/etc/apt").glob("sources.list*"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]:
        if mirror or not source.is_file():
            continue
        found = re.search(r"(?:^deb (?:\[.*?\] )?|^URIs: )(\S+)", source.read_text(), re.M)
        mirror = found.group(1) if found else ""
    return told["VERSION_CODENAME"], mirror or "http://deb.debian.org/debian"


def own_mounts():
    """From here on nobody else sees what we mount, and it is gone when we end, however that is."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        sys.exit(f"FAILED: unshare: {os.strerror(ctypes.get_errno())}; this needs root")
    run(["mount", "--make-rprivate", "/"])


def copy_apt_settings(root):
    """How this system reaches its mirror."""
    for name in ("apt.conf", "apt.conf.d", "auth.conf.d"):
        source = pathlib.Path("/etc/apt", name)
        if source.is_dir():
            shutil.copytree(source, root / "etc/apt" / name, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy(source, root / "etc/apt" / name)


def check_installed(package, folder):
    release, mirror = system()
    root = folder / "debian"
    inside = ["chroot", root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    apt = inside + ["DEBIAN_FRONTEND=noninteractive", "apt-get"]
    own_mounts()
    try:
        run(["debootstrap", "--variant=minbase", release, root, mirror], timeout=1800)
        run(["mount", "-t", "proc", "proc", root / "proc"])
        copy_apt_settings(root)
        shutil.copy(package, root / "weft.deb")
        (root / "sum.c").write_text(PROGRAM)
        run(apt + ["update"], timeout=600)
        run(apt + ["install", "-y", "--no-install-recommends", "/weft.deb", "clang-14", "libc6-dev"], timeout=1800)
        checks = use(inside + ["/usr/bin/weft"], "")
        for name in ("weft cc", "compiler pass", "PMIx", "Open MPI", "libfabric", "texts"):
            expect(checks[name]["state"] == "ok", checks[name])
        expect(checks["weft fc"]["state"] == "note" and "gfortran" in checks["weft fc"]["remedy"], checks["weft fc"])
        run(apt + ["remove", "-y", "weft"], timeout=600)
        expect(not (root / "usr/bin/weft").exists(), "weft is there after its removal")
    finally:
        subprocess.run(["umount", "-R", root / "proc"], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=False)


def main():
    cpack, build = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="weft-package-") as name:
        folder = pathlib.Path(name)
        (folder / "made").mkdir()
        package = make_package(cpack, build, folder / "made")
        if "--debootstrap" in sys.argv:
            check_installed(package, folder)
        else:
            check_unpacked(package, folder, build)
    print("the package: made, put elsewhere, used")


if __name__ == "__main__":
    main()
