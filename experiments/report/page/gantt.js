// The Gantt chart: rows are processors or nodes, time goes to the right.
'use strict';

const GUTTER = 76; // left of all charts, for what their rows and axes are called
const MARGIN = 12; // right of them
const AXIS = 22; // below the rows, for the time
const SINGLE = 6000; // so many pieces are drawn one by one; more of them as an image
const JOB = 0, EARLIER = 1, OWNER = 2, BOOKING = 3, OUTAGE = 4; // kinds of pieces
const HATCHED = new Set([EARLIER, OUTAGE]);

// Colours that people who see fewer colours tell apart: those of Okabe and Ito
// for what has no order, and of viridis, but for its dark end, for what has.
const CLASSES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442'];
const OTHERS = '#9a9a9a';
const SEQUENCE = ['#414487', '#355f8d', '#2a788e', '#21918c', '#35b779', '#6ece58', '#b5de2b', '#fde725'];
const OF_KIND = {[OWNER]: '#7a6a58', [BOOKING]: '#b03060', [OUTAGE]: '#808080'};

// A scale tells the colour of every job: a number in its palette. Where two runs are
// shown the first one's users have the colours in both.
const scales = {
  user(run, first) {
    const held = new Map();
    const {count, user, start, end, size} = first.jobs;
    for (let j = 0; j < count; j++) {
      if (end[j] > start[j]) held.set(user[j], (held.get(user[j]) || 0) + (end[j] - start[j]) * size[j]);
    }
    const most = [...held].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, CLASSES.length).map(pair => pair[0]);
    const place = new Map(most.map((u, i) => [u, i]));
    const names = most.map(u => u < 0 ? 'unknown user' : 'user ' + u);
    return scale(run, [...CLASSES.slice(0, most.length), OTHERS], [...names, 'others'], j => place.get(run.jobs.user[j]) ?? most.length);
  },
  size: run => stepwise(run, run.jobs.size, [1, 2, 5, 17, 65, 257, 1025, 4097],
    ['1 processor', '2 to 4', '5 to 16', '17 to 64', '65 to 256', '257 to 1,024', '1,025 to 4,096', 'more']),
  wait: run => stepwise(run, run.jobs.start.map((s, j) => s - run.jobs.submit[j]), [0, 1, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400],
    ['no wait', 'under 1 min', 'under 10 min', 'under 1 h', 'under 6 h', 'under 1 d', 'under 7 d', 'longer']),
  backfilled: run => scale(run, [CLASSES[0], CLASSES[1]], ['in turn', 'backfilled'], j => run.jobs.backfilled[j]),
  state: run => scale(run, [CLASSES[0], CLASSES[1], CLASSES[5], CLASSES[3]], ['finished', 'cut at its estimate', 'killed', 'not ended'],
    j => Math.min(run.jobs.state[j], 3)),
};

function scale(run, colours, names, of) {
  const colour = new Uint8Array(run.jobs.count);
  const used = new Set();
  for (let j = 0; j < colour.length; j++) {
    colour[j] = of(j);
    if (run.jobs.end[j] >= run.jobs.start[j]) used.add(colour[j]);
  }
  return {colours, names, of: colour, used};
}

// stepwise gives colours by the highest step that a value reaches.
function stepwise(run, values, steps, names) {
  return scale(run, SEQUENCE, names, j => {
    let k = steps.length - 1;
    while (k > 0 && !(values[j] >= steps[k])) k--;
    return k;
  });
}

function rgb(colour) {
  return [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
}

// View is the part of time and rows that all charts of the page show.
class View {
  constructor(from, to, rows) {
    this.limits = {from, to, rows};
    this.changed = () => {};
    this.all();
  }

  all() {
    this.set(this.limits.from, this.limits.to, 0, this.limits.rows);
  }

  // set shows that part, as far as there is anything to see.
  set(from, to, top = this.top, bottom = this.bottom) {
    const l = this.limits;
    const length = Math.min(Math.max(to - from, 1e-3), l.to - l.from);
    const height = Math.min(Math.max(bottom - top, Math.min(4, l.rows)), l.rows);
    this.from = Math.min(Math.max(from, l.from), l.to - length);
    this.to = this.from + length;
    this.top = Math.min(Math.max(top, 0), l.rows - height);
    this.bottom = this.top + height;
    this.changed();
  }

  // zoom shows factor times as much time, and rows, around a point that stays.
  zoom(factor, time = (this.from + this.to) / 2, rowsFactor = 1, row = (this.top + this.bottom) / 2) {
    this.set(time - (time - this.from) * factor, time + (this.to - time) * factor,
      row - (row - this.top) * rowsFactor, row + (this.bottom - row) * rowsFactor);
  }

  // pan moves by parts of what is shown.
  pan(time, rows = 0) {
    const dt = (this.to - this.from) * time, dr = (this.bottom - this.top) * rows;
    this.set(this.from + dt, this.to + dt, this.top + dr, this.bottom + dr);
  }
}

// Gantt draws one run on one canvas.
class Gantt {
  constructor(canvas, run, view, clock) {
    Object.assign(this, {canvas, run, view, clock, selected: -1, inView: 0, image: null});
    this.visible = new Int32Array(SINGLE);
  }

  colourBy(name, first) {
    this.scale = scales[name](this.run, first);
    this.colours = this.scale.colours.map(rgb);
  }

  get width() { return this.canvas.clientWidth - GUTTER - MARGIN; }
  get height() { return this.canvas.clientHeight - AXIS; }
  x(time) { return GUTTER + (time - this.view.from) / (this.view.to - this.view.from) * this.width; }
  y(row) { return (row - this.view.top) / (this.view.bottom - this.view.top) * this.height; }
  time(x) { return this.view.from + (x - GUTTER) / this.width * (this.view.to - this.view.from); }
  row(y) { return this.view.top + y / this.height * (this.view.bottom - this.view.top); }

  colourOf(piece) {
    const {job, kind} = this.run.pieces;
    return kind[piece] > EARLIER ? OF_KIND[kind[piece]] : this.scale.colours[this.scale.of[job[piece]]];
  }

  draw(theme) {
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(this.canvas.clientWidth * ratio), h = Math.round(this.canvas.clientHeight * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, {width: w, height: h});
    const g = this.canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    g.fillStyle = theme.plot;
    g.fillRect(GUTTER, 0, this.width, this.height);
    this.look();
    g.save();
    g.beginPath();
    g.rect(GUTTER, 0, this.width, this.height);
    g.clip();
    if (this.inView > SINGLE) this.drawImage(g); else this.drawSingle(g, theme);
    this.run.windows?.draw(this, g, theme, this.selected);
    this.drawSelected(g, theme);
    g.restore();
    this.drawRows(g, theme);
    this.drawTime(g, theme);
  }

  // look finds what is in view, as long as it can be drawn piece by piece.
  look() {
    const {from, to, top, bottom} = this.view;
    this.inView = 0;
    this.run.each(from, to, top, bottom, i => {
      if (this.inView < SINGLE) this.visible[this.inView] = i;
      return ++this.inView <= SINGLE;
    });
  }

  drawSingle(g, theme) {
    const {start, end, row, rows, kind, job} = this.run.pieces;
    const hatch = hatching(g, theme);
    const found = Array.from(this.visible.subarray(0, this.inView));
    found.sort((a, b) => kind[b] - kind[a] || a - b); // what is out of service lies below
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    for (const i of found) {
      const x = this.x(start[i]), y = this.y(row[i]);
      const w = this.x(end[i]) - x, h = this.y(row[i] + rows[i]) - y;
      g.fillStyle = this.colourOf(i);
      g.fillRect(x, y, w, h);
      if (HATCHED.has(kind[i])) {
        g.fillStyle = hatch;
        g.fillRect(x, y, w, h);
      }
      if (w > 2.5 && h > 2.5) {
        g.strokeStyle = theme.plot;
        g.lineWidth = Math.min(1, h / 6);
        g.strokeRect(x, y, w, h);
      }
      const left = Math.max(x, GUTTER), text = kind[i] <= EARLIER ? String(this.run.jobs.id[job[i]]) : '';
      if (text && h >= 12 && x + w - left > 7 * text.length + 6) {
        g.fillStyle = legible(this.colourOf(i));
        g.fillText(text, left + 4, y + h / 2);
      }
    }
    this.drawOverhead(g, found, hatch);
  }

  // drawOverhead hatches as much of each attempt as went into set-up and
  // checkpoints, at its end: the files tell how much, not when.
  drawOverhead(g, found, hatch) {
    const {overhead, start, end, row, rows, kind} = this.run.pieces;
    g.fillStyle = hatch;
    for (const i of found) {
      const seconds = kind[i] === JOB ? overhead[i] : 0;
      if (!seconds) continue;
      const x = this.x(Math.max(start[i], end[i] - seconds));
      g.fillRect(x, this.y(row[i]), this.x(end[i]) - x, this.y(row[i] + rows[i]) - this.y(row[i]));
    }
  }

  // drawImage draws what is too much to be told apart: every pixel has the mean
  // colour of what it holds, as strong as the part of it that is taken.
  drawImage(g) {
    const w = Math.max(1, Math.ceil(this.width)), h = Math.max(1, Math.ceil(this.height));
    const sums = this.density(w, h);
    if (!this.image || this.image.width !== w || this.image.height !== h) this.image = new OffscreenCanvas(w, h);
    const context = this.image.getContext('2d');
    const image = context.createImageData(w, h);
    const bytes = image.data;
    for (let p = 0; p < w * h; p++) {
      const taken = sums[4 * p + 3];
      if (taken < 1e-3) continue;
      for (let c = 0; c < 3; c++) bytes[4 * p + c] = sums[4 * p + c] / taken;
      bytes[4 * p + 3] = Math.min(255, 255 * taken);
    }
    context.putImageData(image, 0, 0);
    g.drawImage(this.image, GUTTER, 0, this.width, this.height);
  }

  // density gives four sums for each pixel: red, green, blue, each times the part
  // of the pixel that has that colour, and the part that is taken.
  density(w, h) {
    const {from, to, top, bottom} = this.view;
    const {start, end, row, rows, kind, job} = this.run.pieces;
    const sums = new Float32Array(4 * w * h);
    const perTime = w / (to - from), perRow = h / (bottom - top);
    const special = Object.fromEntries(Object.entries(OF_KIND).map(([k, colour]) => [k, rgb(colour)]));
    this.run.each(from, to, top, bottom, i => {
      const x0 = Math.max(0, (start[i] - from) * perTime), x1 = Math.min(w, (end[i] - from) * perTime);
      const y0 = Math.max(0, (row[i] - top) * perRow), y1 = Math.min(h, (row[i] + rows[i] - top) * perRow);
      const colour = kind[i] > EARLIER ? special[kind[i]] : this.colours[this.scale.of[job[i]]];
      const hatched = HATCHED.has(kind[i]);
      for (let y = y0 | 0; y < y1; y++) {
        const high = Math.min(y1, y + 1) - Math.max(y0, y);
        for (let x = x0 | 0, p = 4 * (y * w + x); x < x1; x++, p += 4) {
          let part = high * (Math.min(x1, x + 1) - Math.max(x0, x));
          if (hatched && (x + y) % 6 < 2) part *= 0.25;
          sums[p] += part * colour[0];
          sums[p + 1] += part * colour[1];
          sums[p + 2] += part * colour[2];
          sums[p + 3] += part;
        }
      }
    });
    return sums;
  }

  // drawSelected frames the chosen job, and points at it where it is too small.
  drawSelected(g, theme) {
    if (this.selected < 0) return;
    const {job, start, end, row, rows} = this.run.pieces;
    const {from, to, top, bottom} = this.view;
    g.strokeStyle = g.fillStyle = theme.accent;
    g.lineWidth = 2;
    this.run.each(from, to, top, bottom, i => {
      if (job[i] !== this.selected) return;
      const x = this.x(start[i]), y = this.y(row[i]);
      const w = this.x(end[i]) - x, h = this.y(row[i] + rows[i]) - y;
      g.strokeRect(x, y, Math.max(w, 2), Math.max(h, 2));
      if (w > 8) return;
      g.beginPath();
      g.moveTo(x + w / 2, y);
      g.lineTo(x + w / 2 - 6, y - 10);
      g.lineTo(x + w / 2 + 6, y - 10);
      g.fill();
    });
  }

  // drawRows names the rows: nodes by their names, processors by their numbers,
  // and the sites of a grid, which lie one above the other.
  drawRows(g, theme) {
    g.font = '11px system-ui, sans-serif';
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    const perRow = this.height / (this.view.bottom - this.view.top);
    for (const lane of this.run.meta.lanes) {
      const y0 = this.y(lane.first), y1 = this.y(lane.first + lane.rows);
      if (y1 < 0 || y0 > this.height) continue;
      if (lane.first > 0) {
        g.fillStyle = theme.text;
        g.fillRect(0, y0 - 0.5, GUTTER + this.width, 1);
      }
      const step = Math.max(1, lane.nodes ? Math.ceil(14 / perRow) : roundStep(Math.max(1, 22 / perRow)));
      let free = y0;
      if (lane.name && y1 - y0 > 13) {
        const y = Math.max(y0, 0) + 8;
        g.fillStyle = theme.text;
        g.fillText(fitted(g, lane.name, GUTTER - 8), GUTTER - 6, y);
        free = y + 7;
      }
      g.fillStyle = theme.quiet;
      const begin = Math.max(0, Math.floor((this.view.top - lane.first) / step) * step);
      for (let k = begin; k < Math.min(lane.rows, this.view.bottom - lane.first); k += step) {
        const y = this.y(lane.first + k + 0.5);
        if (y < Math.max(free, 0) + 5 || y > Math.min(y1, this.height) - 2) continue;
        g.fillText(fitted(g, lane.nodes ? lane.nodes[k].name : String(k), GUTTER - 8), GUTTER - 6, y);
      }
    }
    g.textAlign = 'left';
  }

  drawTime(g, theme) {
    const {from, to} = this.view;
    const step = niceStep(to - from, Math.max(2, this.width / this.clock.room));
    g.font = '11px system-ui, sans-serif';
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (const time of this.clock.marks(from, to, step)) {
      const x = this.x(time);
      g.fillStyle = theme.quiet;
      g.fillRect(x, this.height, 1, 4);
      if (x > GUTTER + 20 && x < this.canvas.clientWidth - 40) g.fillText(this.clock.text(time, step), x, this.height + 7);
    }
    g.textAlign = 'left';
  }
}

// hatching is a pattern of stripes that lies over a colour.
function hatching(g, theme) {
  const tile = new OffscreenCanvas(8, 8);
  const t = tile.getContext('2d');
  t.strokeStyle = theme.plot;
  t.globalAlpha = 0.75;
  t.lineWidth = 2;
  for (const shift of [-8, 0, 8]) {
    t.beginPath();
    t.moveTo(shift - 1, 9);
    t.lineTo(shift + 9, -1);
    t.stroke();
  }
  return g.createPattern(tile, 'repeat');
}

// legible is the colour of letters on a ground.
function legible(colour) {
  const [red, green, blue] = rgb(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 105 ? '#000' : '#fff';
}

// fitted cuts a text to a width.
function fitted(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  while (text.length > 1 && g.measureText(text + '…').width > width) text = text.slice(0, -1);
  return text + '…';
}
