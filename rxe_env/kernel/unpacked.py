# SPDX-License-Identifier: BSD-2-Clause
"""What of an unpacked kernel is kept: its boot image and the modules that Soft-RoCE needs.

Distributions split kernels differently: image and modules in one package, modules and extra
ones beside it, or everything in one folder of /usr/lib/modules.
"""

import json
import shutil
from pathlib import Path

from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel import kmodules

_BASE_MODULES = ("virtio_pci", "virtio_net", "virtio_console", "crc32_generic", "8021q", "rdma_rxe")
_HOST_MODULES = ("tun", "9p", "9pnet_virtio")
PEER_MODULES = STOCK_MODULES = (*_BASE_MODULES, "rdma_ucm")
KEPT_MODULES = (*_BASE_MODULES, *_HOST_MODULES, *PEER_MODULES)
# What rdma_ucm needs is kept, too; rxe itself no longer needs ib_uverbs.
INSIDE_MODULES = (*_BASE_MODULES, "ib_uverbs", *_HOST_MODULES)
# Newer kernels compute CRC-32 without the crypto API.
OPTIONAL_MODULES = ("crc32_generic",)
IMAGE_NAMES = ("vmlinuz", "vmlinuz.unsigned")


def keep(root: Path, place: Path) -> None:
    """Keep the kernel that packages unpacked into `root` hold."""
    # Where /lib is a link to /usr/lib, both ways lead to one tree.
    trees = {
        tree.resolve(): tree
        for tree in (*root.glob("lib/modules/*/"), *root.glob("usr/lib/modules/*/"))
    }
    bootable = [(tree, image) for tree in trees.values() if (image := _image_of(root, tree))]
    if len(bootable) > 1:
        names = ", ".join(sorted(str(tree.relative_to(root)) for tree, _ in bootable))
        raise Unavailable(f"there are several kernels, {names}: name one of them with --kernel")
    if bootable:
        ((tree, image),) = bootable
        keep_tree(image, tree, place)
        return
    release = next((path.name for path in root.glob("boot/vmlinuz-*")), None)
    if release:
        raise Unavailable(f"no package has the modules of {release}: name it, too, with --kernel")
    raise Unavailable("no package has a boot image with modules: name both with --kernel")


def keep_tree(image: Path, tree: Path, place: Path) -> None:
    """Keep a boot image and what is needed of the tree /lib/modules/RELEASE."""
    wanted = [name for name in KEPT_MODULES if name not in OPTIONAL_MODULES]
    images = kmodules.closure(tree, wanted, OPTIONAL_MODULES)
    shutil.copyfile(image, place / "vmlinuz")
    (place / "modules").mkdir()
    for name, content in images.items():
        (place / "modules" / f"{name}.ko").write_bytes(content)
    needs = {name: kmodules.depends(content) for name, content in sorted(images.items())}
    facts = {"release": tree.name, "needs": needs}
    (place / "kernel.json").write_text(json.dumps(facts, indent=1))


def _image_of(root: Path, tree: Path) -> Path | None:
    beside = [tree / name for name in IMAGE_NAMES]
    candidates = [root / "boot" / f"vmlinuz-{tree.name}", *beside]
    return next((path for path in candidates if path.is_file()), None)
