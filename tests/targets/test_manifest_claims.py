# SPDX-License-Identifier: BSD-2-Clause
"""What a manifest does not claim is skipped with the key that would claim it."""

from __future__ import annotations

import pytest

from roceproof.common.paths import REFERENCE_DUT, REPOSITORY, RESPONDER_DUT
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.dpi import load_manifest

SMALL_DUT = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"


@pytest.mark.parametrize("path", [REFERENCE_DUT, RESPONDER_DUT, SMALL_DUT], ids=lambda p: p.stem)
def test_a_reason_stands_only_for_what_is_not_claimed(path) -> None:
    claims = claims_of(load_manifest(path))
    assert not claims.capabilities & set(claims.absent)


@pytest.mark.parametrize(
    ("path", "capability", "key"),
    [
        (REFERENCE_DUT, Capability.RESPONDER, "[responder]"),
        (REFERENCE_DUT, Capability.RETRANSMISSION, "retransmission = true"),
        (RESPONDER_DUT, Capability.CM, "[cm]"),
        (SMALL_DUT, Capability.STATES, "states = true"),
        (SMALL_DUT, Capability.UC, "UC"),
        (SMALL_DUT, Capability.UD, "UD under [responder]"),
        (SMALL_DUT, Capability.IPV6, 'features = ["ipv6"]'),
    ],
)
def test_it_names_the_key(path, capability: Capability, key: str) -> None:
    why = claims_of(load_manifest(path)).absent[capability]
    assert why.startswith("its manifest ")
    assert key in why
