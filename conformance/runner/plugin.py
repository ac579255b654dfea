# SPDX-License-Identifier: BSD-2-Clause
"""The pytest plug-in: `--roce-*` options, the `bench` fixture, verdicts and their evidence.

It sleeps until `--roce-target` is given. Then every test that asks for `bench` gets a fresh
device, is judged by the passive observer behind its own checks, and leaves a capture and the
command that repeats it when it fails.
"""

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from roceproof import __version__
from roceproof.common.printable import printable, printable_lines
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.judging.device_counters import counters_of, note_counters
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.runner.outcomes import CASE_BROKE
from roceproof.conformance.runner.session.ending import NO_ROOM, no_room
from roceproof.conformance.runner.session.endurance import UNREACHABLE
from roceproof.conformance.runner.session.factories import (
    OPTIONS,
    close_factories,
    factory_of,
    prepare_factories,
    widths_asked,
)
from roceproof.conformance.runner.session.functional_coverage import NAME as REACH
from roceproof.conformance.runner.session.functional_coverage import Reach, reach_of
from roceproof.conformance.runner.session.items import (
    SEEN,
    belongs,
    broken_by,
    broken_on_purpose,
    identity_of,
    plainly_named,
    rules_of,
    width_of,
)
from roceproof.conformance.runner.session.names import case_seed, file_name, short_name
from roceproof.conformance.runner.session.options import Options, add_options, read_options
from roceproof.conformance.runner.session.results import OBSERVED, Results
from roceproof.conformance.runner.session.verdict import conclude, ended_by, located, warned
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.limits.deviations import declared, shown_by_chance
from roceproof.conformance.suite.limits.skips import PREFIX, is_known, reason_to_skip
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.hdl.allowance import within_processor_seconds
from roceproof.conformance.targets.interface import (
    Beyond,
    CasePlace,
    DeviceDied,
    DeviceFactory,
    Target,
    TargetError,
)
from roceproof.verbs.addresses import Host

MARKS = {
    "rules(*ids)": "the rules that a case decides",
    "needs(*capabilities)": "what a target must claim",
    "smoke": "part of the smoke suite",
    "masses": "many by chance or by number; of them the gate suite has those that smoke has",
    "long_life": "takes minutes; only the long suite has it",
    "unjudged(reasons)": "rules that the observer leaves alone here, each with the reason",
    "breaks(*ids)": "rules that a case itself breaks on purpose",
    "targets(*names)": "kinds of target that can show it",
    "identity(mac, ip)": "the address that the device shall have, where it lets itself be told",
}
_INTERRUPTED = pytest.StashKey[bool]()
_RESULTS = "roceproof-results"
_FOUND = re.compile(r"\s*\+\s+(where|and) ")
"""Lines in which pytest tells how it came by a value."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks; wake up if there is a target."""
    for name, text in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    options = read_options(config)
    if options is None:
        return
    config.stash[OPTIONS] = options
    if options.coverage is not None:
        config.pluginmanager.register(Reach(options), REACH)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(options, made_of=_versions(config)), _RESULTS)


def pytest_report_header(config: pytest.Config) -> list[str]:
    options = config.stash.get(OPTIONS, None)
    if options is None:
        return []
    factory = factory_of(config, widths_asked(options)[0])
    claims = factory.claims
    versions = {"roceproof": __version__, **factory.versions()}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    where = f"target {claims.target} ({claims.device})"
    return [f"{where}, suite {options.suite}, seed {options.seed}", told]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Have built what the cases need, once, for all workers."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if OPTIONS in config.stash and not is_worker and not config.option.collectonly:
        prepare_factories(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    close_factories(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every case at each data width of a simulated device."""
    options = metafunc.config.stash.get(OPTIONS, None)
    if options is None or "bench" not in metafunc.fixturenames or options.target != "hdl":
        return
    widths = widths_asked(options)
    metafunc.parametrize("data_width", widths, ids=[f"{w}bit" for w in widths], indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """Give cases names that can be typed, before a node id on the command line is looked for."""
    made = yield
    is_awake = OPTIONS in collector.config.stash
    return plainly_named(made) if is_awake and isinstance(made, list) else made


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the suite does not want, skip what the target does not claim."""
    options = config.stash.get(OPTIONS, None)
    if options is None:
        return
    cases = [item for item in items if "bench" in getattr(item, "fixturenames", ())]
    over = options.cases_over()
    left_out = [item for item in cases if not belongs(item, options.suite) or item.nodeid in over]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    for item in cases:
        item.user_properties.append(("rules", " ".join(rules_of(item))))
        reason = reason_to_skip(item, factory_of(config, width_of(item)).claims)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def data_width(request: pytest.FixtureRequest) -> int | None:
    """Bits of the streams of a simulated device."""
    return getattr(request, "param", None)


@pytest.fixture
def bench(request: pytest.FixtureRequest, data_width: int | None) -> Iterator[Bench]:
    """A fresh device, and what a case does with it."""
    config = request.config
    options = config.stash.get(OPTIONS, None)
    if options is None:
        pytest.fail("this case needs a device: pass --roce-target hdl, rxe, nic or model")
    name = short_name(request.node.nodeid)
    place = CasePlace(
        name=name,
        seed=case_seed(options.seed, name),
        waves=_waves(options, name),
        host=identity_of(request.node),
    )
    factory = factory_of(config, data_width)
    version = factory.identity()[1]

    @contextmanager
    def another(seed: int, host: Host | None) -> Iterator[Bench]:
        other = replace(place, seed=seed, host=host, waves=None)
        with factory.device(other) as device, _watched(request, device, factory) as target:
            fresh = Bench(target, factory.claims, seed=seed, version=version)
            yield fresh
            for failure in judge(fresh, breaks=broken_on_purpose(request.node)):
                raise failure

    try:
        with factory.device(place) as device, _watched(request, device, factory) as target:
            made = Bench(target, factory.claims, seed=place.seed, version=version, another=another)
            made.rules = frozenset(rules_of(request.node))
            yield made
            if config.stash.get(_INTERRUPTED, False):
                raise KeyboardInterrupt  # so that the device is not tidied up for another case
    except KeyboardInterrupt:
        if not config.stash.get(_INTERRUPTED, False):
            raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell the fixtures, which are torn down later, that a case was interrupted."""
    try:
        return (yield)
    except KeyboardInterrupt:
        item.config.stash[_INTERRUPTED] = True
        raise


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Judge behind the case, whatever its own verdict, and keep the evidence of a failure."""
    bench = pyfuncitem.funcargs.get("bench")
    options = pyfuncitem.config.stash.get(OPTIONS, None)
    if options is None or not isinstance(bench, Bench):
        return (yield)
    before = counters_of(bench, wanted=options.target == "nic")
    own: CaseFailed | None = None
    limit: Beyond | None = None
    result = None
    try:
        with within_processor_seconds():
            result = yield
    except CaseFailed as failure:
        own = located(failure, pyfuncitem.path)
    except DeviceDied as death:
        own = ended_by(death, bench, pyfuncitem.path)
    except Beyond as met:
        limit = met
    except (AssertionError, pytest.fail.Exception) as failure:
        told = bench.failed(_stated(failure)).with_traceback(failure.__traceback__)
        own = located(told, pyfuncitem.path)
    note_counters(pyfuncitem, bench, before)
    with within_processor_seconds(), suppress(*[CaseBreaks] * (limit is not None)):
        conclude(pyfuncitem, bench, options, own)
    if limit is not None:
        pytest.skip(f"{PREFIX}{bench.claims.device}: {limit}")
    return result


def _stated(failure: BaseException) -> str:
    """What an assertion says, without where pytest found each part of it."""
    return "\n".join(line for line in str(failure).splitlines() if not _FOUND.match(line))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a declared deviation into an expected failure, and a strange skip into an error."""
    report = yield
    text = report.longreprtext if report.failed else ""
    if (said := printable_lines(text)) != text:  # which goes to workers and terminals
        report.longrepr = said
    options = item.config.stash.get(OPTIONS, None)
    if options is None or "bench" not in getattr(item, "fixturenames", ()):
        return report
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if not is_known(reason):
            report.outcome, report.longrepr = "failed", f"skipped for an unknown reason: {reason}"
            report.user_properties.append((CASE_BROKE, printable(report.longrepr)))
        return report
    error = call.excinfo.value if call.when != "call" and call.excinfo else None
    if isinstance(error, DeviceDied) and options.target == "hdl":
        place = "before the case has begun" if call.when == "setup" else "when the case was over"
        report.longrepr = f"{error.said} {place}: {error}"
        report.user_properties += [("broken", error.rule), ("head", report.longrepr)]
    elif isinstance(error, TargetError):
        reason = str(error).partition("\n")[0]
        report.user_properties.append((UNREACHABLE, reason))
    if call.when != "call":
        return report
    setattr(report, OBSERVED, item.stash.get(SEEN, None))  # workers send it along
    if call.excinfo is not None and isinstance(call.excinfo.value, CaseFailed):
        report.longrepr = str(call.excinfo.value)
    elif call.excinfo is not None and report.failed:
        report.user_properties.append((CASE_BROKE, printable(broken_by(call.excinfo, item))))
        if why := no_room(call.excinfo.value):
            report.user_properties.append((NO_ROOM, why))
        return report  # which shows nothing of the device, nor a deviation
    if options.mutant:
        return report
    factory = factory_of(item.config, width_of(item))
    identity, name = factory.identity(), short_name(item.nodeid)
    deviation = declared(identity, name)
    if deviation is None and report.failed:
        broken = str(dict(report.user_properties).get("broken", "")).split()
        deviation = shown_by_chance(identity, name, broken)
    if deviation is None:
        return warned(report) if report.failed else report
    if report.failed:
        report.outcome = "skipped"
        report.wasxfail = f"known deviation {deviation.id}: {deviation.says}"
    elif report.passed:
        report.outcome = "failed"
        report.longrepr = (
            f"the declared deviation {deviation.id} was not seen; remove it from deviations.toml, "
            "or narrow its kernels"
        )
    report.user_properties.append(("deviation", deviation.id))
    return report


def _watched(
    request: pytest.FixtureRequest, device: Target, factory: DeviceFactory
) -> AbstractContextManager[Target]:
    reach = reach_of(request.config)
    if reach is None:
        return nullcontext(device)
    return reach.watched(device, factory.claims, rules_of(request.node))


def _versions(config: pytest.Config) -> Callable[[], Mapping[str, str]]:
    """What a real device is; of one that is built here its name says which, its sources what."""
    options = config.stash[OPTIONS]
    if options.target not in ("rxe", "nic"):
        width = widths_asked(options)[0]
        return lambda: {"device": factory_of(config, width).claims.device}
    return lambda: factory_of(config, None).versions()


def _waves(options: Options, name: str) -> Path | None:
    if not options.waves:
        return None
    options.captures.mkdir(parents=True, exist_ok=True)
    return options.captures / file_name(name).replace(".pcapng", ".fst")
