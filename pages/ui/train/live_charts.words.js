// What charts say: words under the pointer, and numbers along the axes.

function wordsAt(chart, px, py) {
  const { traces, layout } = chart.figure;
  const [vx, vy] = chart.valueAt([px, py]);
  const [map] = traces;
  if (map?.type === "image") return blockWords(chart, map, vx, vy);
  if (map?.type === "heatmap") {
    const [x, y] = [Math.round(vx), Math.round(vy)];
    return fill(map.hovertemplate, { x, y, z: map.z[y]?.[x] });
  }
  const points = traces
    .filter(({ hovertemplate, x }) => hovertemplate && x.length)
    .map((trace) => nearest(chart, trace, px, layout.hovermode === "x" ? null : py));
  const near = Math.min(...points.map(({ far }) => far));
  const lines = new Set();
  for (const { trace, i, far } of points) {
    // Several lines at one epoch are read together; of crossing ones only the nearest.
    if (layout.hovermode === "x" ? far > near + 1 : far > near) continue;
    const [x, y] = [trace.x[i], trace.y[i]];
    const values = { x, y, customdata: trace.customdata?.[i] };
    for (const line of fill(trace.hovertemplate, values).split("\n")) lines.add(line);
    const dot = { cx: chart.x(x), cy: chart.y(y), r: 4, fill: trace.line?.color };
    if (trace.line) make("circle", dot, chart.marks);
  }
  return [...lines].join("\n");
}

// The nearest point; of bars, and where `py` is null, only along the epochs.
function nearest(chart, trace, px, py) {
  const flat = py === null || trace.type === "bar";
  let [i, far] = [0, Infinity];
  trace.x.forEach((x, k) => {
    if (x === null) return;
    const distance = Math.hypot(chart.x(x) - px, flat ? 0 : chart.y(trace.y[k]) - py);
    if (distance < far) [i, far] = [k, distance];
  });
  return { trace, i, far };
}

// A picture holds colours; its value is the place of the colour in the scale.
function blockWords(chart, { dx, dy, meta }, vx, vy) {
  const { row, unit, low, high, shades } = meta;
  const { xaxis, yaxis } = chart.figure.layout;
  const [d, B] = [xaxis.range[1] + 0.5, yaxis.range[0] + 0.5];
  const [column, line] = [Math.floor((vx + 0.5) / dx), Math.floor((vy + 0.5) / dy)];
  const pixel = pixelOf(chart.picture, column, line);
  const shade = shades.indexOf(pixel);
  const span = (name, k, size, n) => {
    const [from, to] = [k * size, Math.min((k + 1) * size, n) - 1];
    return to > from ? `${name}s ${from} to ${to}` : `${name} ${from}`;
  };
  const where = `${span(row, line, dy, B)}\n${span("Input", column, dx, d)}`;
  if (shade < 0) return where;
  if (low === 0 && dx * dy === 1) return `${where}\n${shade ? "connected" : "not connected"}`;
  const value = low + (shade / (shades.length - 1)) * (high - low);
  const what = dx * dy === 1 ? unit.replace("mean ", "") : unit;
  return `${where}\n${what} ${number(value, low < 0 ? ".2f" : ".2g")}`;
}

const sampler = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

function pixelOf(picture, x, y) {
  sampler.drawImage(picture, x, y, 1, 1, 0, 0, 1, 1);
  const [r, g, b] = sampler.getImageData(0, 0, 1, 1).data;
  return [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
}

function ticks({ range, nticks, tickvals, ticktext, tickformat }, length, across) {
  if (tickvals) return tickvals.map((value, k) => [value, ticktext[k]]);
  const [low, high] = [Math.min(...range), Math.max(...range)];
  const usual = Math.min(9, Math.max(4, length / (across ? 80 : 40))) + 1;
  const most = Math.max(3, Math.min(nticks ?? usual, length / (across ? 34 : 26)));
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].find((n) => rough < n * power * 0.9999) * power;
  if (tickformat === "d") step = Math.max(1, step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++)
    found.push([k * step, number(k * step, tickformat ?? `.${digits}~f`)]);
  return found;
}

// The few of d3's number formats that the figures use.
function number(value, format = "") {
  if (value === undefined || value === null) return "";
  const [, comma, digits, trim, kind] = /^(,?)(?:\.(\d+))?(~?)([fgd]?)$/.exec(format) ?? [];
  let text = String(value);
  if (kind === "g") text = String(Number(value.toPrecision(digits)));
  else if (kind === "d") text = String(Math.round(value));
  else if (kind === "f") text = trim ? String(Number(value.toFixed(digits))) : value.toFixed(digits);
  if (comma) text = Number(text).toLocaleString("en");
  return text.replace(/^-/, "−");
}

function fill(template, values) {
  const plain = template.replace(/<extra>.*<\/extra>/, "").replaceAll("<br>", "\n");
  const field = /%\{(\w+)(?::([^}]*))?\}/g;
  return plain.replace(field, (_, name, format) => number(values[name], format));
}
