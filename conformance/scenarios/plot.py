# SPDX-License-Identifier: BSD-2-Clause
"""Rows as SVG, with the source's axes."""

from io import StringIO

from roceproof.common.errors import RoceproofError
from roceproof.conformance.scenarios.run import Result
from roceproof.conformance.scenarios.scenario import Row


def svg(result: Result) -> str:
    """The plot of a scenario; the same rows give the same bytes."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise RoceproofError(
            "plots need Matplotlib: pip install 'roceproof[plots]', or give --no-plots"
        ) from None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "roceproof", "svg.fonttype": "none"})
    from matplotlib import pyplot

    plot = result.scenario.plot
    figure, axes = pyplot.subplots(figsize=(8, 4))
    has_names = any(isinstance(row.get(plot.x), str) for row in result.rows)
    curves: dict[str, list[Row]] = {}
    for row in result.rows:
        if plot.x in row and plot.y in row:
            name = ", ".join(f"{key} {row[key]}" for key in plot.curves)
            curves.setdefault(name, []).append(row)
    for name, rows in curves.items():
        rows.sort(key=lambda row: row[plot.x])
        xs, ys = [row[plot.x] for row in rows], [row[plot.y] for row in rows]
        axes.plot(xs, ys, "o" if has_names else ".-", linewidth=1, label=name)
    axes.set(title=result.scenario.id, xlabel=plot.x_title, ylabel=plot.y_title)
    if plot.log_x:
        axes.set_xscale("log", base=10 if plot.x in ("loss", "rate") else 2)
    if plot.log_y:
        axes.set_yscale("log")
    if has_names:
        pyplot.setp(axes.get_xticklabels(), rotation=30, horizontalalignment="right")
    axes.grid(alpha=0.3)
    if 1 < len(curves) <= 20:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.tight_layout()
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return text.getvalue()
