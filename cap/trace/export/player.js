"use strict";
// Films of the world from above, one for each turn, drawn from the views that the run recorded.
const views = JSON.parse(document.getElementById("views").textContent);
const shapes = {}, frames = [];
for (const view of views) {
  Object.assign(shapes, view.shapes || {});
  const last = frames.length ? frames[frames.length - 1] : { placements: {}, lines: [] };
  const placements = { ...last.placements, ...(view.placements || {}) };
  for (const name of view.gone || []) delete placements[name];
  frames.push({ turn: view.turn, placements, lines: view.lines || last.lines });
}
const part = (name) => name.split("/")[0];

function turned(q, v) {
  const [x, y, z, w] = q, [a, b, c] = v;
  const tx = 2 * (y * c - z * b), ty = 2 * (z * a - x * c), tz = 2 * (x * b - y * a);
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}
function placed(p, v) {
  const r = turned(p.slice(3), v);
  return [p[0] + r[0], p[1] + r[1], p[2] + r[2]];
}
function ring(radius, z) {
  const points = [];
  for (let i = 0; i < 20; i++) {
    const angle = (i * Math.PI) / 10;
    points.push([radius * Math.cos(angle), radius * Math.sin(angle), z]);
  }
  return points;
}
function corners(shape) {
  if (shape.kind === "box") {
    const [a, b, c] = shape.size.map((edge) => edge / 2), found = [];
    for (const x of [-a, a]) for (const y of [-b, b]) for (const z of [-c, c]) found.push([x, y, z]);
    return found;
  }
  if (shape.kind === "cylinder") {
    const [radius, height] = shape.size;
    return ring(radius, -height / 2).concat(ring(radius, height / 2));
  }
  const widest = shape.profile.reduce((a, b) => (b[0] > a[0] ? b : a));
  return ring(widest[0], widest[1]);
}
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1) {
        const [a, b] = out.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        out.pop();
      }
      out.push(p);
    }
    out.pop();
    return out;
  };
  return half(sorted).concat(half(sorted.slice().reverse()));
}
function solids(placements) {
  const found = [];
  for (const [name, place] of Object.entries(placements)) {
    for (const shape of shapes[name] || []) {
      const local = corners(shape);
      const inner = shape.at ? local.map((v) => placed(shape.at, v)) : local;
      const points = inner.map((v) => placed(place, v));
      found.push({ name, shape, points, top: Math.max(...points.map((p) => p[2])) });
    }
  }
  return found.sort((a, b) => a.top - b.top);
}
function extent() {
  const still = frames.length ? solids(frames[0].placements) : [];
  const own = still.filter((one) => !["arm", "objects", "robot"].includes(part(one.name)));
  const xs = own.flatMap((one) => one.points.map((p) => p[0]));
  const ys = own.flatMap((one) => one.points.map((p) => p[1]));
  return xs.length ? [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
    : [-1, 1, -1, 1];
}
const [left, right, front, back] = extent();
const css = (color, factor = 1) => `rgb(${color.map((c) => Math.round(c * factor)).join(",")})`;

function draw(canvas, frame) {
  const wide = canvas.clientWidth || 400;
  const high = Math.min(wide * (back - front) / (right - left), 560);
  const ratio = window.devicePixelRatio || 1;
  canvas.width = wide * ratio;
  canvas.height = high * ratio;
  canvas.style.height = `${high}px`;
  const pen = canvas.getContext("2d");
  const scale = Math.min(wide / (right - left), high / (back - front));
  const to = (p) => [wide / 2 + (p[0] - (left + right) / 2) * scale,
    high / 2 - (p[1] - (front + back) / 2) * scale];
  const trace = (points, close) => {
    pen.beginPath();
    points.forEach((p, i) => (i ? pen.lineTo(...to(p)) : pen.moveTo(...to(p))));
    if (close) pen.closePath();
  };
  const line = (one) => {
    trace(one.points, false);
    pen.strokeStyle = css(one.color);
    pen.lineWidth = Math.max(1.5, one.width_m * scale);
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
  };
  pen.scale(ratio, ratio);
  const all = solids(frame.placements);
  const upper = (one) => ["arm", "objects", "robot"].includes(part(one.name));
  const paint = (one) => {
    pen.globalAlpha = part(one.name) === "arm" ? 0.4 : 1;
    trace(hull(one.points), true);
    pen.fillStyle = css(one.shape.color, one.shape.kind === "lathe" ? 0.78 : 1);
    pen.fill();
    pen.lineWidth = one.shape.kind === "lathe" ? 2.5 : 1;
    pen.strokeStyle = css(one.shape.color, one.shape.kind === "lathe" ? 1 : 0.72);
    pen.stroke();
    pen.globalAlpha = 1;
  };
  all.filter((one) => !upper(one)).forEach(paint);
  frame.lines.forEach(line);
  all.filter((one) => upper(one) && part(one.name) !== "arm").forEach(paint);
  all.filter((one) => part(one.name) === "arm").forEach(paint);
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "center";
  const taken = [], lathe = (name) => (shapes[name] || [])[0]?.kind === "lathe";
  const objects = Object.entries(frame.placements).filter(([name]) => part(name) === "objects");
  const outlines = Object.fromEntries(objects.map(([name, place]) => [name, (shapes[name] || [])
    .flatMap((shape) => corners(shape).map((v) => (shape.at ? placed(shape.at, v) : v)))
    .map((v) => to(placed(place, v)))]));
  const blocks = objects.filter(([name]) => !lathe(name) && outlines[name].length)
    .map(([name]) => [0, 1].flatMap((axis) => {
      const along = outlines[name].map((p) => p[axis]);
      return [Math.min(...along), Math.max(...along)];
    }));
  for (const [name, place] of objects.sort(([, a], [, b]) => b[2] - a[2])) {
    const word = name.slice(8), reach = pen.measureText(word).width / 2 + 2;
    const [middle, above] = to(place);
    const x = Math.max(reach, Math.min(wide - reach, middle));
    const edges = outlines[name].map((p) => p[1]);
    const [top, low] = [Math.min(above, ...edges), Math.max(above, ...edges)];
    const tried = [low + 9, top - 9, low + 21, top - 21]
      .map((y) => Math.max(6, Math.min(high - 8, y)));
    const free = tried.filter((y) => !taken.some(
      ([a, b, r]) => Math.abs(a - x) < r + reach && Math.abs(b - y) < 12));
    const clear = free.find((y) => !blocks.some(([l, r, t, b]) =>
      x + reach > l && x - reach < r && y + 5 > t && y - 5 < b));
    const y = clear ?? free[0];
    if (y === undefined) continue;
    taken.push([x, y, reach]);
    pen.lineWidth = 3;
    pen.strokeStyle = "rgba(255,255,255,.85)";
    pen.strokeText(word, x, y + 4);
    pen.fillStyle = "#1d1e20";
    pen.fillText(word, x, y + 4);
  }
}
function between(a, b, share) {
  const placements = { ...b.placements };
  for (const [name, end] of Object.entries(b.placements)) {
    const start = a.placements[name];
    if (!start) continue;
    const sign = start.slice(3).reduce((sum, v, i) => sum + v * end[3 + i], 0) < 0 ? -1 : 1;
    const mixed = end.map((v, i) => start[i] + share * ((i > 2 ? sign * v : v) - start[i]));
    const long = Math.hypot(...mixed.slice(3)) || 1;
    placements[name] = mixed.map((v, i) => (i > 2 ? v / long : v));
  }
  return { turn: b.turn, placements, lines: share < 1 ? a.lines : b.lines };
}
function film(figure) {
  const canvas = figure.querySelector("canvas"), play = figure.querySelector("button");
  const turn = Number(figure.dataset.turn);
  const own = frames.map((frame, i) => i).filter((i) => frames[i].turn === turn);
  const from = Math.max(own[0] - 1, 0), end = own[own.length - 1];
  let run = 0;
  const move = (at, begin) => {
    if (!run) return;
    const share = Math.min(1, (performance.now() - begin) / 700);
    draw(canvas, between(frames[at - 1], frames[at], share));
    if (share < 1) run = requestAnimationFrame(() => move(at, begin));
    else if (at < end) move(at + 1, performance.now());
    else stop();
  };
  const stop = () => {
    cancelAnimationFrame(run);
    run = 0;
    play.textContent = "▶ Play";
    draw(canvas, frames[end]);
  };
  draw(canvas, frames[end]);
  play.hidden = from === end;
  play.addEventListener("click", () => {
    if (run) return stop();
    play.textContent = "■ Stop";
    run = 1;
    move(from + 1, performance.now());
  });
  new ResizeObserver(() => run || draw(canvas, frames[end])).observe(figure);
}
document.querySelectorAll(".film").forEach(film);
