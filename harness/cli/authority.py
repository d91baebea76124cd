"""`harness authority new`: the keys of a release authority."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import loud, output, places
from harness.model.errors import UsageError

authority_app = typer.Typer(
    help="Keys of a release authority.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: harness authority new ~/keys",
)


def new_command(
    folder: Annotated[Path, typer.Argument(help="Where the two files are made; never inside a repository.")],
    json_: Annotated[bool, typer.Option("--json", help="One JSON object: the two paths and the fingerprint.")] = False,
) -> int:
    """Make a key pair: release-authority.pem (mode 600) and release-authority.pub.pem.

    The private key is encrypted when HARNESS_KEY_PASSPHRASE is set. Nothing is ever overwritten.

    Example: harness authority new ~/keys
    """
    from harness.authorize.keys import fingerprint, new_key_pair, read_public_key  # noqa: PLC0415

    if tree := next((above for above in (folder, *folder.resolve().parents) if (above / ".git").exists()), None):
        raise UsageError(
            f"lies in a git work tree, {tree}: a private key is never committed", where=str(folder), hint="name another"
        )
    private_path, public_path = folder / "release-authority.pem", folder / "release-authority.pub.pem"
    for path in (private_path, public_path):
        if path.exists():
            raise UsageError("is already there, and a key is never overwritten", where=str(path))
    passphrase = places.passphrase()
    private, public = new_key_pair(passphrase)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(private_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(private)
        places.write_file(public_path, public)
    except BaseException:
        private_path.unlink()  # half a key, or one without its other half, would be in the way of the next try
        raise
    print_ = fingerprint(read_public_key(public, where=str(public_path)))
    if json_:
        output.emit(
            {
                "private_key": str(private_path),
                "encrypted": bool(passphrase),
                "public_key": str(public_path),
                "fingerprint": print_,
            }
        )
        return 0
    output.say(f"private key  {private_path}  {'encrypted' if passphrase else 'NOT encrypted'}, keep it offline")
    output.say(f"public key   {public_path}")
    output.say(f"fingerprint  {print_}")
    output.note("Next: put the public key into trust-policy.toml of the evidence folder, with the role authority")
    return 0


authority_app.command("new")(loud.with_loudness(new_command))
