"""A folder of files that run as us once loaded.

Kept only if it is ours, given back only if this user put them there, to the bit.

Nothing kept is given back unless folder and file are ours and closed to others, and a record beside
the file names its SHA-256, signed (HMAC) with a secret that only this user can read. Where no such
folder can be had, nothing is kept.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

SECRET = "secret"  #: the file with the HMAC key
SECRET_BYTES = 32
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_ANY = stat.S_IRWXG | stat.S_IRWXO


class Folder:
    """A folder that is ours and closed to others, held open.

    A path may be swapped between two looks, an open folder may not.
    """

    def __init__(self, fd: int, ending: str) -> None:
        self.fd, self.ending = fd, ending

    def kept(self, name: str) -> bytes | None:
        """A file's bytes if we put them here, else None."""
        record, content = self.read(f"{name}.record"), self.read(f"{name}{self.ending}")
        secret = self.secret()
        if record is None or content is None or secret is None:
            return None
        return content if hmac.compare_digest(record, _record(secret, name, content)) else None

    def keep(self, name: str, content: bytes) -> None:
        """Put a file here for the next time.

        Losing the race to another process, or a full disk, costs a compilation later.
        """
        secret = self.secret()
        if secret is not None:
            with contextlib.suppress(OSError):
                self.write(f"{name}{self.ending}", content)
                self.write(f"{name}.record", _record(secret, name, content))

    def secret(self) -> bytes | None:
        """The key our records are signed with, made on first use.

        None if it can be neither read nor made.
        """
        for _ in range(2):
            found = self.read(SECRET, OTHERS_ANY)
            if found is not None and len(found) == SECRET_BYTES:
                return found
            # Missing, or not to be trusted: then neither is anything signed with it.
            with contextlib.suppress(OSError):
                if found is not None or self.exists(SECRET):
                    os.unlink(SECRET, dir_fd=self.fd)
                self.write(SECRET, secrets.token_bytes(SECRET_BYTES), replace=False)
        return None

    def exists(self, name: str) -> bool:
        try:
            os.lstat(name, dir_fd=self.fd)
        except OSError:
            return False
        return True

    def read(self, name: str, closed: int = OTHERS_WRITE) -> bytes | None:
        """A file's bytes if it is a plain file of ours without the `closed` permissions.

        A link is not followed.
        """
        try:
            fd = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd
            )
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read() if _is_ours(os.fstat(fd), stat.S_ISREG, closed) else None

    def write(self, name: str, content: bytes, *, replace: bool = True) -> None:
        """A whole file or none.

        Written aside, then given its name, so that nobody ever reads half of it.
        """
        aside = f".{name}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(aside, flags, 0o600, dir_fd=self.fd)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(content)
            if replace:
                os.rename(aside, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            else:
                # Another process was first: its file counts.
                with contextlib.suppress(FileExistsError):
                    os.link(aside, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(aside, dir_fd=self.fd)


@contextlib.contextmanager
def private_folder(path: Path, ending: str) -> Iterator[Folder | None]:
    """The folder, made if need be, whose files have this ending.

    None if it is not ours alone, or where no folder can be held open (Windows).
    """
    if os.open not in os.supports_dir_fd:
        yield None
        return
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        ours = _is_ours(os.fstat(fd), stat.S_ISDIR, OTHERS_WRITE) and os.access(path, os.W_OK)
        yield Folder(fd, ending) if ours else None
    finally:
        os.close(fd)


def _is_ours(found: os.stat_result, kind, closed: int) -> bool:
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & closed


def _record(secret: bytes, name: str, content: bytes) -> bytes:
    """The content's hash, and proof that we wrote it down for this very name."""
    digest = hashlib.sha256(content).hexdigest()
    proof = hmac.new(secret, f"{name} {digest}".encode(), hashlib.sha256).hexdigest()
    return f"sha256 {digest}\nhmac {proof}\n".encode()
