# SPDX-License-Identifier: BSD-2-Clause
"""The contract of imports that import-linter has no type for; see .importlinter."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class CommandOnTop(Contract):  # type: ignore[misc]
    """The modules of the console command, which lie beside the rooms, are imported by none."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Ask who imports a module that lies at the root and is no room."""
        root = self.session_options["root_packages"][0]
        beside = graph.find_children(root)
        rooms = {name for name in beside if graph.find_children(name)}
        broken = sorted(
            (importer, module)
            for module in beside - rooms
            for importer in graph.find_modules_that_directly_import(module)
            if any(importer == room or importer.startswith(f"{room}.") for room in rooms)
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, module in check.metadata["broken"]:
            output.print_error(f"{importer} imports {module}; what both need goes into common/")
