// What the page holds of a run: columns of whole numbers, unpacked.
'use strict';

// unpack gives the bytes of a text of base64 that holds them packed by gzip.
async function unpack(base64) {
  const text = atob(base64.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// unpackJSON is what the element of an id holds as packed JSON.
async function unpackJSON(id) {
  return JSON.parse(new TextDecoder().decode(await unpack(document.getElementById(id).textContent)));
}

// columnsOf reads columns that follow each other. Each number stands as its
// difference to the one before: 0, -1, 1, -2, 2 are written 0, 1, 2, 3, 4, by
// seven bits a byte, the lowest first, and the eighth bit says that more follow.
// Sums stay below 2^53, where numbers of JavaScript are exact.
function columnsOf(bytes, layout) {
  const columns = {};
  let at = 0;
  for (const {name, count, divisor} of layout) {
    const values = divisor ? new Float64Array(count) : new Int32Array(count);
    let last = 0;
    for (let i = 0; i < count; i++) {
      let byte = bytes[at++];
      let value = byte & 127;
      for (let unit = 128; byte > 127; unit *= 128) {
        byte = bytes[at++];
        value += (byte & 127) * unit;
      }
      last += value % 2 ? -(value + 1) / 2 : value / 2;
      values[i] = divisor ? last / divisor : last;
    }
    columns[name] = values;
  }
  return columns;
}

// BLOCK is how many pieces share a span of time, by which most of those that
// are not in view are passed over. Jobs that are neighbours in the file are
// near each other in time.
const BLOCK = 256;

// Run is one policy: its jobs, the pieces of its Gantt chart (a job on a range
// of rows for a span of time), and what waited and was busy when.
class Run {
  constructor(meta, bytes) {
    const c = columnsOf(bytes, meta.columns);
    this.meta = meta;
    this.policy = meta.policy;
    this.jobs = {count: c.id.length, id: c.id, submit: c.submit, start: c.wait, end: c.run, size: c.size,
      estimate: c.estimate, user: c.user, state: c.state, backfilled: c.backfilled,
      prediction: c.prediction, predicted: c.predicted, corrections: c.corrections}; // the last three where runtimes are predicted
    const {submit, start, end, count} = this.jobs;
    this.byId = new Map();
    for (let j = 0; j < count; j++) {
      this.byId.set(this.jobs.id[j], j);
      const ran = end[j] >= 0; // a job that never ran has a runtime below 0
      start[j] = ran ? submit[j] + start[j] : NaN;
      end[j] = ran ? start[j] + end[j] : NaN;
    }
    this.pieces = {count: c.job.length, job: c.job, row: c.row, rows: c.rows, start: c.after_start,
      end: c.after_end, kind: c.kind, attempt: c.attempt,
      overhead: c.overhead, cost: c.cost, label: c.label};
    this.placePieces();
    this.queued = new Steps(c.time, c.queued_jobs);
    this.busy = new Steps(c.time, c.busy);
  }

  // placePieces turns times counted from those of the job into times, and finds
  // the span of each block.
  placePieces() {
    const {count, job, start, end} = this.pieces;
    this.blocks = {from: [], to: []};
    for (let i = 0; i < count; i++) {
      const j = job[i];
      if (j >= 0) {
        start[i] += this.jobs.start[j] || 0; // NaN where it never began in earnest
        end[i] += this.jobs.end[j] || 0;
      }
      if (i % BLOCK === 0) {
        this.blocks.from.push(Infinity);
        this.blocks.to.push(-Infinity);
      }
      const b = (i / BLOCK) | 0;
      if (start[i] < this.blocks.from[b]) this.blocks.from[b] = start[i];
      if (end[i] > this.blocks.to[b]) this.blocks.to[b] = end[i];
    }
  }

  // each calls visit with the number of every piece that lies between two
  // instants and two rows in part, until visit returns false.
  each(from, to, top, bottom, visit) {
    const {count, start, end, row, rows} = this.pieces;
    for (let b = 0; b < this.blocks.from.length; b++) {
      if (this.blocks.from[b] >= to || this.blocks.to[b] <= from) continue;
      const last = Math.min(count, (b + 1) * BLOCK);
      for (let i = b * BLOCK; i < last; i++) {
        if (start[i] < to && end[i] > from && row[i] < bottom && row[i] + rows[i] > top && visit(i) === false) return;
      }
    }
  }

  // pieceAt is the number of the piece there, or -1. What runs lies above what
  // is out of service.
  pieceAt(time, row) {
    let found = -1;
    const {count, start, end, row: first, rows, kind} = this.pieces;
    for (let b = 0; b < this.blocks.from.length; b++) {
      if (this.blocks.from[b] > time || this.blocks.to[b] <= time) continue;
      const last = Math.min(count, (b + 1) * BLOCK);
      for (let i = b * BLOCK; i < last; i++) {
        if (start[i] <= time && end[i] > time && first[i] <= row && first[i] + rows[i] > row && (found < 0 || kind[i] < kind[found])) found = i;
      }
    }
    return found;
  }
}

// Steps is a number that changes at some instants and holds in between.
class Steps {
  constructor(times, values) {
    this.times = times;
    this.values = values;
    this.area = new Float64Array(times.length); // below the curve, up to each change
    for (let i = 1; i < times.length; i++) {
      this.area[i] = this.area[i - 1] + values[i - 1] * (times[i] - times[i - 1]);
    }
  }

  // until is the area below the curve up to an instant.
  until(time) {
    let low = 0, high = this.times.length; // the first change after time
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low === 0 ? 0 : this.area[low - 1] + this.values[low - 1] * (time - this.times[low - 1]);
  }

  // means gives the mean of each of so many equal parts of a span of time: what
  // a column of pixels shows.
  means(from, to, parts) {
    const means = new Array(parts);
    let before = this.until(from);
    for (let i = 0; i < parts; i++) {
      const after = this.until(from + (to - from) * (i + 1) / parts);
      means[i] = (after - before) * parts / (to - from);
      before = after;
    }
    return means;
  }
}
