"""What a folder's disk allows: local or network, writable, room left."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

NETWORK = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "lustre",
        "gpfs",
        "beegfs",
        "ceph",
        "9p",
        "afs",
        "virtiofs",
    }
    | {"glusterfs", "pvfs2", "orangefs", "panfs", "wekafs", "ocfs2", "gfs2", "davfs"}
    | {
        f"fuse.{kind}"
        for kind in ("glusterfs", "sshfs", "ceph", "gcsfuse", "s3fs", "juicefs", "rclone")
    }
)
"""File systems without shared memory between hosts: SQLite's write-ahead log does not work there."""
BALLAST_BYTES = 2 * 1024 * 1024
ROOM_BYTES = 1024 * 1024
"""Less free space than this is a full disk."""


@dataclass(frozen=True, slots=True)
class Storage:
    """One folder's disk."""

    path: Path
    kind: str
    """The file system's type, as the kernel names it; empty if unknown."""
    free_bytes: int

    @property
    def network(self) -> bool:
        """Whether other hosts may see it."""
        return self.kind in NETWORK

    @property
    def warning(self) -> str:
        """What a person should know, or an empty text."""
        if not self.network:
            return ""
        return (
            f"{self.path} is on a network file system ({self.kind}): the journal uses a rollback journal, and engine "
            "and viewers must run on one host. Set PIKE_HOME to a local disk to avoid this."
        )


def storage_of(path: Path, mounts: str | None = None) -> Storage:
    """Return the disk of an existing folder. `mounts`: the text of /proc/self/mountinfo."""
    here = path.resolve()
    return Storage(path, kind_of(here, mounts), shutil.disk_usage(here).free)


def kind_of(path: Path, mounts: str | None = None) -> str:
    """Return the type of the file system that a path is on; empty if unknown."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    best, kind = -1, ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        mount = Path(fields[4].replace("\\040", " "))
        if (path == mount or mount in path.parents) and len(mount.parts) >= best:
            best, kind = len(mount.parts), right.split()[0]
    return kind


def put_ballast(path: Path) -> None:
    """Hold some room back, so that a full disk still takes the last facts.

    Raises:
        OSError: there is no room for it.
    """
    if path.exists() and path.stat().st_size >= BALLAST_BYTES:
        return
    with path.open("wb") as file:
        for _ in range(BALLAST_BYTES // 65_536):
            file.write(os.urandom(65_536))
        file.flush()
        os.fsync(file.fileno())


def drop_ballast(path: Path) -> bool:
    """Give the room back; return whether there was any."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
