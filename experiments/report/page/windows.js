// The windows that jobs of a batch could choose from.
'use strict';

// Windows are those of one run: a task (a row for a span of time) after the other, in
// the order of the jobs.
class Windows {
  constructor(layout, bytes) {
    this.tasks = columnsOf(bytes, layout);
    this.first = new Map(); // number of its first task, by job
    this.tasks.job.forEach((j, i) => { if (!this.first.has(j)) this.first.set(j, i); });
  }

  // each calls visit with the number of every task of a job.
  each(j, visit) {
    for (let i = this.first.get(j) ?? Infinity; i < this.tasks.job.length && this.tasks.job[i] === j; i++) visit(i);
  }

  // text says how many there were, and what the chosen one and the cheapest cost.
  text(j) {
    const {alternative, cost, chosen} = this.tasks;
    const costs = new Map();
    let taken = null;
    this.each(j, i => {
      costs.set(alternative[i], (costs.get(alternative[i]) || 0) + cost[i]);
      if (chosen[i]) taken = alternative[i];
    });
    if (!costs.size) return 'none'; // or it was in no batch
    const [cheapest, least] = [...costs].reduce((a, b) => b[1] < a[1] ? b : a);
    const choice = taken === null ? 'none chosen' : `chosen: ${taken}, for ${number(costs.get(taken), 2)}`;
    return `${number(costs.size)}; ${choice}; cheapest: ${cheapest}, for ${number(least, 2)}`;
  }

  // draw frames those of a job on a chart, with their numbers.
  draw(gantt, g, theme, j) {
    const {alternative, row, start, end} = this.tasks;
    g.save();
    g.strokeStyle = g.fillStyle = theme.text;
    g.lineWidth = 1.5;
    g.setLineDash([5, 3]);
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'top';
    this.each(j, i => {
      if (row[i] < 0) return;
      const x = gantt.x(start[i]), y = gantt.y(row[i]);
      const w = gantt.x(end[i]) - x, h = gantt.y(row[i] + 1) - y;
      g.strokeRect(x, y, Math.max(w, 2), Math.max(h, 2));
      const text = String(alternative[i]);
      if (h < 12 || w < 7 * text.length + 6) return;
      g.fillStyle = theme.ground; // letters are to be read on any colour
      g.fillRect(x + w - 7 * text.length - 5, y + 1, 7 * text.length + 4, 11);
      g.fillStyle = theme.text;
      g.fillText(text, x + w - 7 * text.length - 3, y + 1);
    });
    g.restore();
  }
}
