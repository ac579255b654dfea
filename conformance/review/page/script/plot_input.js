// SPDX-License-Identifier: BSD-2-Clause
// Hands on the plot: drag over a span to zoom in, click for the nearest packet, buttons and keys.

function listenToPlot() {
  const { canvas } = plot;
  let begin = null;
  let end = null;
  const place = event => event.clientX - canvas.getBoundingClientRect().left;

  canvas.addEventListener("pointerdown", event => {
    begin = end = place(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (begin === null) return;
    end = place(event);
    plot.draw();
    plot.pen.globalAlpha = 0.2;
    plot.pen.fillStyle = plot.tone("focus");
    plot.pen.fillRect(Math.min(begin, end), 8, Math.abs(end - begin), plot.y.begin - 8);
  });
  canvas.addEventListener("pointercancel", () => { begin = null; plot.redraw(); });
  canvas.addEventListener("pointerup", event => {
    if (begin === null) return;
    const [from, to] = [Math.min(begin, end), Math.max(begin, end)];
    begin = null;
    if (to - from > 6) {
      plot.show([plot.x.value(from), plot.x.value(to)]);
      return;
    }
    plot.redraw();
    const row = plot.nearest(from, event.clientY - canvas.getBoundingClientRect().top);
    if (row >= 0) choice.goTo(row);
  });
  canvas.addEventListener("dblclick", () => plot.show(null));

  const moves = {
    "+": () => plot.zoom(0.5), "=": () => plot.zoom(0.5), "-": () => plot.zoom(2), 0: () => plot.show(null),
    ArrowLeft: () => plot.move(-0.25), ArrowRight: () => plot.move(0.25),
  };
  canvas.addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  });
  byId("zoom-in").addEventListener("click", moves["+"]);
  byId("zoom-out").addEventListener("click", moves["-"]);
  byId("zoom-all").addEventListener("click", moves[0]);
  byId("plotted").addEventListener("change", event => { plot.flow = Number(event.target.value); plot.redraw(); });
}
