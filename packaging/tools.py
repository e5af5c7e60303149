"""What packaging/package and packaging/check share: programs are run, and installed if they are missing."""

import os
import shutil
import subprocess


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def said(*command, **options):
    return run(*command, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def install(needs):
    """Debian's packages for the programs that are missing."""
    missing = [package for program, package in needs.items() if not shutil.which(program)]
    if missing:
        as_root = [] if os.geteuid() == 0 else ["sudo"]
        run(*as_root, "apt-get", "update", "-qq", stdout=subprocess.DEVNULL)
        environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
        run(*as_root, *environment, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, stdout=subprocess.DEVNULL)
