// The page: reads what it holds, and ties controls, charts and texts together.
'use strict';

const byId = id => document.getElementById(id);

// element makes one with texts and other elements inside. Whatever a trace says
// becomes text here, never HTML.
function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value); else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue('--' + name).trim();
  return {ground: of('ground'), plot: of('plot'), text: of('text'), quiet: of('quiet'), line: of('line'), accent: of('accent'), lines: [of('first'), of('second')]};
}

class Page {
  constructor(meta) {
    this.meta = meta;
    this.clock = new Clock(meta.origin ?? null, meta.zone);
    this.runs = new Map(); // unpacked, by policy's number
    this.gantts = [];
    this.lines = [];
    this.job = null; // id of the chosen one
    this.redraws = []; // how long each took, in ms
    this.view = new View(meta.from, meta.to, Math.max(1, meta.rows));
    this.view.changed = () => this.later();
    this.theme = theme();
  }

  async start() {
    this.meta.runs.forEach((run, i) => {
      byId('first').append(element('option', {value: i}, run.policy));
      byId('second').append(element('option', {value: i}, run.policy));
    });
    byId('second').prepend(element('option', {value: -1}, '(none)'));
    byId('second').value = -1;
    byId('second').parentElement.hidden = this.meta.runs.length < 2;
    this.listen();
    await this.show();
    byId('controls').hidden = false;
    document.documentElement.dataset.ready = 'yes';
  }

  // show unpacks and draws the policies chosen.
  async show() {
    const chosen = [+byId('first').value];
    const second = +byId('second').value;
    if (second >= 0 && second !== chosen[0]) chosen.push(second);
    byId('status').hidden = false;
    for (const [i] of this.runs) if (!chosen.includes(i)) this.runs.delete(i); // at most two are kept
    for (const i of chosen) {
      if (!this.runs.has(i)) this.runs.set(i, new Run(this.meta.runs[i], await unpack(byId('run-' + i).textContent)));
      const run = this.runs.get(i);
      if (run.meta.log) run.messages ??= await unpackJSON('log-' + i);
    }
    this.chosen = chosen.map(i => this.runs.get(i));
    byId('status').hidden = true;
    this.buildGantts();
    this.buildLines();
    this.buildDifferences();
    this.colour();
    this.describe();
  }

  buildGantts() {
    const place = byId('gantts');
    place.replaceChildren();
    place.classList.toggle('two', this.chosen.length > 1);
    this.gantts = [];
    for (const run of this.chosen) {
      const title = element('h3', {}, run.policy);
      if (!run.meta.placed) {
        place.append(element('div', {class: 'gantt'}, title, element('p', {class: 'note'}, this.meta.unplaced)));
        continue;
      }
      const canvas = element('canvas', {tabindex: 0, role: 'application', 'aria-roledescription': 'Gantt chart', 'aria-describedby': 'view keys',
        'aria-label': `Gantt chart of ${run.policy}: ${number(run.jobs.count)} jobs on ${number(this.meta.rows)} ${this.meta.row_name}`});
      place.append(element('div', {class: 'gantt'}, title, canvas));
      const gantt = new Gantt(canvas, run, this.view, this.clock);
      this.gantts.push(gantt);
      this.pointers(gantt);
    }
  }

  // buildLines draws what is busy and what waits, on the time axis of the Gantt
  // charts, a line a policy.
  buildLines() {
    this.lines.forEach(line => line.chart.destroy());
    this.lines = [['busy', this.meta.busy_title], ['queued', 'Jobs in the queue']].map(([name, title]) => {
      const runs = this.chosen.filter(run => run[name].times.length);
      if (!runs.length) return null;
      const axis = {stroke: () => this.theme.quiet, grid: {stroke: () => this.theme.line, width: 1}, ticks: {stroke: () => this.theme.line, width: 1}, font: '11px system-ui, sans-serif'};
      const chart = new uPlot({
        title, width: this.lineWidth(), height: 150, padding: [8, MARGIN, 0, 0],
        scales: {x: {time: false, auto: false, range: () => [this.view.from, this.view.to]}, y: {range: (u, low, high) => [0, Math.max(1, high * 1.05)]}},
        axes: [
          {...axis, size: 26, splits: () => this.clock.marks(this.view.from, this.view.to, this.step()), values: (u, splits) => splits.map(t => t > this.view.to - 40 / this.lineWidth() * (this.view.to - this.view.from) ? '' : this.clock.text(t, this.step()))},
          {...axis, size: GUTTER, values: (u, splits) => splits.map(v => number(v))},
        ],
        cursor: {drag: {x: false, y: false}, sync: {key: 'time'}, y: false, points: {show: false}},
        legend: {markers: {width: 2}},
        series: [
          {label: 'Time', value: (u, t) => t == null ? '–' : this.clock.text(t)},
          ...runs.map((run, i) => ({label: run.policy, stroke: () => this.theme.lines[i], width: 1.5, dash: i ? [6, 3] : undefined,
            paths: uPlot.paths.stepped({align: 1}), points: {show: false}, value: (u, v) => v == null ? '–' : number(v, 1)})),
        ],
      }, this.samples(runs, name), byId('lines'));
      return {chart, runs, name};
    }).filter(Boolean);
  }

  lineWidth() { return Math.max(200, byId('lines').clientWidth); }
  step() { return niceStep(this.view.to - this.view.from, Math.max(2, (this.lineWidth() - GUTTER) / this.clock.room)); }

  // samples are the means of all columns of pixels.
  samples(runs, name) {
    const {from, to} = this.view;
    const columns = Math.max(50, Math.round(this.lineWidth() - GUTTER - MARGIN));
    const times = Array.from({length: columns + 1}, (_, i) => from + (to - from) * i / columns);
    return [times, ...runs.map(run => {
      const means = run[name].means(from, to, columns);
      means.push(means[columns - 1]);
      return means;
    })];
  }

  // buildDifferences lists the jobs whose starts lie furthest apart.
  buildDifferences() {
    const part = byId('differences');
    part.hidden = this.chosen.length < 2;
    if (part.hidden) return;
    const [a, b] = this.chosen;
    const found = [];
    for (let j = 0; j < a.jobs.count; j++) {
      const k = b.byId.get(a.jobs.id[j]);
      const difference = k === undefined ? NaN : b.jobs.start[k] - a.jobs.start[j];
      if (difference) found.push({id: a.jobs.id[j], j, k, difference});
    }
    found.sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || x.id - y.id);
    const [head, body] = part.querySelectorAll('thead, tbody');
    head.replaceChildren(element('tr', {}, ...['Job', 'Start, ' + a.policy, 'Start, ' + b.policy, 'Difference', 'Processors'].map(t => element('th', {scope: 'col'}, t))));
    body.replaceChildren(...found.slice(0, 20).map(f => element('tr', {},
      element('th', {scope: 'row'}, element('button', {type: 'button', onclick: () => this.choose(f.id, true)}, String(f.id))),
      element('td', {}, this.clock.text(a.jobs.start[f.j])), element('td', {}, this.clock.text(b.jobs.start[f.k])),
      element('td', {}, (f.difference > 0 ? '+' : '') + span(f.difference)), element('td', {}, number(a.jobs.size[f.j])))));
    if (!found.length) body.replaceChildren(element('tr', {}, element('td', {colspan: 5}, 'All jobs that both ran started at the same instants.')));
  }

  colour() {
    for (const gantt of this.gantts) gantt.colourBy(byId('colour').value, this.chosen[0]);
    const legend = byId('legend');
    legend.replaceChildren();
    this.gantts[0]?.scale.names.forEach((name, i) => {
      if (this.gantts.some(g => g.scale.used.has(i))) legend.append(this.swatch(this.gantts[0].scale.colours[i], name, false));
    });
    const kinds = new Set(this.gantts.flatMap(g => g.run.meta.kinds));
    if (kinds.has(EARLIER)) legend.append(this.swatch(OTHERS, 'hatched: attempt that was stopped', true));
    if (this.gantts.some(g => g.run.meta.overhead)) legend.append(this.swatch(OTHERS, 'hatched end: set-up and checkpoints (how much, not when)', true));
    for (const [kind, name] of [[OWNER, "owner's job"], [BOOKING, 'advance reservation'], [OUTAGE, 'out of service']]) {
      if (kinds.has(kind)) legend.append(this.swatch(OF_KIND[kind], name, HATCHED.has(kind)));
    }
    this.later();
  }

  swatch(colour, name, hatched) {
    const canvas = element('canvas', {width: 28, height: 28, 'aria-hidden': 'true'});
    const g = canvas.getContext('2d');
    for (const fill of hatched ? [colour, hatching(g, this.theme)] : [colour]) {
      g.fillStyle = fill;
      g.fillRect(0, 0, 28, 28);
    }
    return element('li', {}, canvas, name);
  }

  // later redraws with the next frame, once.
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const begun = performance.now();
    for (const gantt of this.gantts) {
      gantt.selected = gantt.run.byId.get(this.job) ?? -1;
      gantt.draw(this.theme);
    }
    for (const {chart, runs, name} of this.lines) chart.setData(this.samples(runs, name));
    this.redraws.push(performance.now() - begun);
    const {from, to, top, bottom} = this.view;
    const rows = this.meta.rows ? `, ${number(Math.ceil(bottom) - Math.floor(top))} of ${number(this.meta.rows)} ${this.meta.row_name}` : '';
    const crowded = this.gantts.some(g => g.inView > SINGLE) ? ' Where a pixel holds several jobs it shows their mean; zoom in to see each.' : '';
    byId('view').textContent = `Shown: ${this.clock.text(from)} to ${this.clock.text(to)} (${span(to - from)})${rows}.${crowded}`;
  }

  // choose makes a job the chosen one, and shows it where asked to.
  choose(id, show) {
    this.job = id;
    for (const run of show ? this.chosen : []) {
      const j = run.byId.get(id);
      const {start, end} = run.jobs;
      if (j === undefined || !(end[j] >= start[j])) continue;
      const around = Math.max(10 * (end[j] - start[j]), 60);
      this.view.set((start[j] + end[j] - around) / 2, (start[j] + end[j] + around) / 2, 0, this.meta.rows);
      break;
    }
    this.describe();
    this.later();
  }

  // describe tells all of the chosen job, under each of the policies shown.
  describe() {
    byId('job').hidden = this.job === null;
    if (this.job === null) return;
    this.explain();
    this.windows();
    byId('job-title').textContent = 'Job ' + this.job;
    byId('job-text').replaceChildren(...this.chosen.map(run => {
      const j = run.byId.get(this.job);
      const facts = j === undefined ? [['', 'not in this run']] : this.facts(run, j);
      return element('div', {}, element('h4', {}, run.policy),
        element('dl', {class: 'pairs'}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])));
    }));
  }

  facts(run, j) {
    const {submit, start, end, size, estimate, user, state, backfilled} = run.jobs;
    const facts = [
      ['State', this.meta.states[state[j]]], ['User', user[j] < 0 ? 'unknown' : String(user[j])], ['Processors', number(size[j])],
      ['Submitted', this.clock.text(submit[j], 1)], ['Start', this.clock.text(start[j], 1)], ['End', this.clock.text(end[j], 1)],
      ['Wait', span(start[j] - submit[j]) + (backfilled[j] ? ', backfilled' : '')], ['Ran', span(end[j] - start[j])], ['Estimate', span(estimate[j])],
    ];
    const {prediction, predicted, corrections} = run.jobs;
    if (prediction && prediction[j] >= 0) {
      const times = corrections[j] === 1 ? 'once' : `${number(corrections[j])} times`;
      facts.push(['Prediction', span(prediction[j]) + (corrections[j] ? `, corrected ${times}, in the end to ${span(predicted[j])}` : '')]);
    }
    if (run.reasons) facts.push(['Why', run.reasons[j]]);
    const said = run.messages ? this.said(run, j, Infinity).join('\n') || 'nothing about this job' : run.meta.unsaid;
    if (said) facts.push(['Agents', said]);
    if (run.windows) facts.push(['Alternatives', run.windows.text(j)]);
    return facts;
  }

  // windows has the alternatives of jobs unpacked, where the folder has any.
  async windows() {
    const packed = this.chosen.filter(run => run.meta.windows && !run.windows);
    for (const run of packed) {
      run.windows = new Windows(run.meta.windows, await unpack(byId('windows-' + this.meta.runs.indexOf(run.meta)).textContent));
    }
    if (packed.length) {
      this.describe();
      this.later();
    }
  }

  // explain has the reasons of jobs unpacked, where the folder has any.
  async explain() {
    const packed = this.chosen.filter(run => run.meta.reasons && !run.reasons);
    for (const run of packed) {
      run.reasons = await unpackJSON('why-' + this.meta.runs.indexOf(run.meta));
    }
    if (packed.length) this.describe();
  }

  // said are the last messages of agents about a job, so many at most.
  said(run, j, most) {
    const {left = 0, last = []} = run.messages[j];
    const shown = last.slice(-most);
    const earlier = left + last.length - shown.length;
    return (earlier ? [`(${number(earlier)} earlier in ${run.meta.log})`] : []).concat(shown.map(m => this.clock.text(m.at, 1) + ' ' + m.text));
  }

  // tip is what is said of the piece under the pointer.
  tip(gantt, time, row) {
    const {run} = gantt;
    const lane = run.meta.lanes.find(l => row >= l.first && row < l.first + l.rows);
    if (!lane) return '';
    const k = Math.floor(row) - lane.first;
    const node = lane.nodes ? lane.nodes[k] : null;
    const lines = [(lane.name ? lane.name + ', ' : '') + (node ? node.name + (node.about ? ' (' + node.about + ')' : '') : 'processor ' + k) + ', ' + this.clock.text(time)];
    const i = run.pieceAt(time, row);
    if (i < 0) return lines.concat('idle').join('\n');
    const {job, kind, start, end, cost, label, attempt, overhead} = run.pieces;
    const text = label && label[i] >= 0 ? run.meta.labels[label[i]] : '';
    if (kind[i] > EARLIER) {
      lines.push((kind[i] === OWNER ? "owner's job" : kind[i] === BOOKING ? 'advance reservation' : 'out of service') + (text ? ': ' + text : ''));
    } else {
      const jobs = run.jobs, j = job[i];
      lines.push(`job ${jobs.id[j]}, ` + (jobs.user[j] < 0 ? 'unknown user' : 'user ' + jobs.user[j]) + `, ${number(jobs.size[j])} processors`,
        'waited ' + span(jobs.start[j] - jobs.submit[j]) + (jobs.backfilled[j] ? ', backfilled' : ''));
      if (kind[i] === EARLIER) lines.push(`attempt ${attempt[i]}, which was stopped`);
      if (overhead[i]) lines.push('of it set-up and checkpoints: ' + span(overhead[i]));
      if (run.messages) lines.push(...this.said(run, j, 3));
    }
    lines.push(`${this.clock.text(start[i])} to ${this.clock.text(end[i])} (${span(end[i] - start[i])})`);
    if (cost && cost[i]) lines.push('cost ' + number(cost[i]));
    return lines.join('\n');
  }

  // pointers has a chart panned by dragging, zoomed by the wheel and by two
  // fingers, asked by hovering and by a click.
  pointers(gantt) {
    const {canvas} = gantt;
    const down = new Map();
    let moved = 0;
    const at = event => {
      const box = canvas.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      const {x, y} = at(event);
      const factor = Math.pow(1.0015, event.deltaY || event.deltaX);
      if (event.shiftKey) this.view.zoom(1, undefined, factor, gantt.row(y)); else this.view.zoom(factor, gantt.time(x));
    }, {passive: false});
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, at(event));
      moved = 0;
    });
    canvas.addEventListener('pointermove', event => {
      const here = at(event);
      const before = down.get(event.pointerId);
      if (!before) return this.hover(gantt, here, event);
      byId('tip').hidden = true;
      down.set(event.pointerId, here);
      moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
      if (down.size === 1) return this.view.pan((before.x - here.x) / gantt.width, (before.y - here.y) / gantt.height);
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const factor = Math.max(10, Math.abs(before.x - other.x)) / Math.max(10, Math.abs(here.x - other.x));
      this.view.zoom(factor, gantt.time(other.x));
    });
    canvas.addEventListener('pointerup', event => {
      if (down.size === 1 && moved < 5) {
        const {x, y} = at(event);
        const i = gantt.run.pieceAt(gantt.time(x), gantt.row(y));
        if (i >= 0 && gantt.run.pieces.kind[i] <= EARLIER) this.choose(gantt.run.jobs.id[gantt.run.pieces.job[i]], false);
      }
      down.delete(event.pointerId);
    });
    canvas.addEventListener('pointercancel', event => down.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => { byId('tip').hidden = true; });
    canvas.addEventListener('keydown', event => this.key(event));
  }

  hover(gantt, {x, y}, event) {
    const tip = byId('tip');
    const text = x < GUTTER || x > GUTTER + gantt.width || y > gantt.height ? '' : this.tip(gantt, gantt.time(x), gantt.row(y));
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 4)) + 'px';
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)) + 'px';
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const v = this.view;
    const act = {
      '+': () => v.zoom(0.5), '=': () => v.zoom(0.5), '-': () => v.zoom(2), '−': () => v.zoom(2),
      ArrowLeft: () => v.pan(-0.2), ArrowRight: () => v.pan(0.2), ArrowUp: () => v.pan(0, -0.2), ArrowDown: () => v.pan(0, 0.2),
      ']': () => v.zoom(1, undefined, 0.5), '[': () => v.zoom(1, undefined, 2), 0: () => v.all(), Home: () => v.all(),
      n: () => this.neighbour(1), p: () => this.neighbour(-1), Escape: () => this.choose(null, false),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // neighbour chooses the next job in order of starts, or the previous one: from
  // the chosen one, or from the left edge of what is shown. A view that does not
  // hold it follows.
  neighbour(direction) {
    const {jobs, byId: index} = this.chosen[0];
    const j = index.get(this.job) ?? -1;
    const origin = j >= 0 && jobs.start[j] >= 0 ? [jobs.start[j], jobs.id[j]] : [this.view.from, -Infinity];
    const after = (a, b) => (a[0] - b[0] || a[1] - b[1]) * direction > 0;
    let best = null;
    for (let k = 0; k < jobs.count; k++) {
      if (!(jobs.end[k] >= jobs.start[k])) continue;
      const key = [jobs.start[k], jobs.id[k]];
      if (after(key, origin) && (best === null || after(best, key))) best = key;
    }
    if (best === null) return;
    if (best[0] < this.view.from || best[0] >= this.view.to) this.view.set(best[0] - (this.view.to - this.view.from) / 2, best[0] + (this.view.to - this.view.from) / 2);
    this.choose(best[1], false);
  }

  find() {
    const id = parseInt(byId('find').value, 10);
    const known = this.chosen.some(run => run.byId.has(id));
    byId('find').setCustomValidity(known ? '' : 'There is no job of this id.');
    byId('find').setAttribute('aria-invalid', String(!known));
    if (known) this.choose(id, true); else byId('find').reportValidity();
  }

  listen() {
    const v = this.view;
    const actions = {in: () => v.zoom(0.5), out: () => v.zoom(2), left: () => v.pan(-0.2), right: () => v.pan(0.2), taller: () => v.zoom(1, undefined, 0.5), all: () => v.all()};
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener('click', action);
    for (const id of ['first', 'second']) byId(id).addEventListener('change', () => this.show());
    byId('colour').addEventListener('change', () => this.colour());
    byId('find').addEventListener('beforeinput', event => {
      if (event.data === '/') event.preventDefault(); // the key that leads here
    });
    byId('find').addEventListener('input', () => byId('find').setCustomValidity(''));
    byId('controls').addEventListener('submit', event => {
      event.preventDefault();
      this.find();
    });
    document.addEventListener('keydown', event => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
      event.preventDefault();
      byId('find').focus();
      byId('find').select();
    });
    addEventListener('resize', () => {
      for (const {chart} of this.lines) chart.setSize({width: this.lineWidth(), height: 150});
      this.later();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.theme = theme();
      this.colour();
    });
    document.body.append(element('div', {id: 'tip', class: 'tip', hidden: ''}));
  }
}

const page = new Page(JSON.parse(byId('meta').textContent));
page.start().catch(error => {
  byId('status').hidden = false;
  byId('status').textContent = 'The charts cannot be shown: ' + error.message + '. The browser may be too old: it must know DecompressionStream.';
  throw error;
});
