# SPDX-License-Identifier: BSD-2-Clause
"""What a manifest does not claim or cannot do, as sentences of a report."""

from roceproof.dpi import Manifest, Operation
from roceproof.dpi.manifest.responder import Responder
from roceproof.verbs.limits import told as told_of
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op


def told_limits(manifest: Manifest) -> list[str]:
    """Each limit in a few words, in the order of the manifest."""
    limits, claimed = manifest.limits, manifest.capabilities
    told = []
    for service in sorted(claimed.services, key=lambda each: each.name):
        names = [
            each.name
            for each in Operation
            if each in claimed.operations
            and limits.against_operation(service, Op[each.name]) is None
        ]
        told.append(f"sends {service.name}: {', '.join(names) or 'nothing'}")
    told += _told_responder(manifest.responder)
    if manifest.cm is not None:
        told.append(f"makes connections itself, for service {manifest.cm.service_id:#x}")
    if not claimed.retransmission:
        told.append("nothing is repeated")
    if claimed.path_mtus != frozenset(PathMtu):
        told.append(f"path MTUs: {', '.join(map(str, sorted(m.size for m in claimed.path_mtus)))}")
    told.append(f"queue pairs: {claimed.qps}")
    told += told_of(limits)
    told += [f"{name} is always {value}" for name, value in limits.fixed.items()]
    if manifest.environment.resolves_addresses:
        told.append("asks for its peers by ARP")
    return told


def _told_responder(responder: Responder | None) -> list[str]:
    if responder is None:
        return ["no responder: nothing can be sent to it"]
    told = [
        f"executes {service.name}: {', '.join(op.name for op in Op if op in operations)}"
        for service, operations in responder.operations.items()
    ]
    if responder.static_regions:
        told.append(f"built-in regions: {len(responder.static_regions)}")
    else:
        told.append(f"regions: {responder.regions}")
    told.append(f"receives: {responder.receives}")
    if responder.states:
        told.append("knows the QP commands between reset and activation")
    if responder.backdoor is not None:
        told.append(f"has memory of its own, reached through {responder.backdoor}")
    return told
