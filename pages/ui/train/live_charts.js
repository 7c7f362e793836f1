// Live charts: draws the figures of a run (plotly's words, see kcnet_core/figures/live.py) in
// places that stay: new data change what is inside them within one frame, and nothing else.

const boards = new WeakMap();

export default function ({ parentElement, data }) {
  if (!boards.has(parentElement)) boards.set(parentElement, new Board(parentElement));
  boards.get(parentElement).show(data);
  return () => {
    if (!parentElement.isConnected) boards.get(parentElement)?.watcher.disconnect();
  };
}

class Board {
  constructor(root) {
    this.host = root.querySelector(".board");
    this.charts = new Map();
    this.watcher = new ResizeObserver((entries) => {
      for (const { target } of entries) this.charts.get(target.dataset.key)?.resized();
    });
  }

  // Places are made once; only another kind of run needs others.
  show({ rows }) {
    const plan = JSON.stringify(rows.map((row) => row.map(({ figure, ...where }) => where)));
    if (plan !== this.plan) this.build(rows);
    this.plan = plan;
    for (const { key, figure } of rows.flat()) this.charts.get(key).show(figure);
  }

  build(rows) {
    this.watcher.disconnect();
    this.charts.clear();
    this.host.replaceChildren();
    for (const row of rows) {
      const line = place(this.host, "div", "row");
      const total = row.reduce((sum, { share }) => sum + share, 0);
      for (const { key, share, height } of row) {
        const cell = place(line, "div", "chart");
        cell.dataset.key = key;
        cell.style.setProperty("--share", `${(100 * share) / total}%`);
        cell.style.setProperty("--height", `${height}px`);
        this.charts.set(key, new Chart(cell));
        this.watcher.observe(cell);
      }
    }
  }
}
