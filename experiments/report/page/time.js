// Times and numbers as people read them.
'use strict';

const SPANS = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];

// number writes with at most so many decimals, and points at thousands.
function number(value, decimals = 2) {
  return Number.isFinite(value) ? value.toLocaleString('en', {maximumFractionDigits: decimals}) : '–';
}

// span is a length of time by its two largest units: 3 d 4 h.
function span(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const sign = seconds < 0 ? '−' : '';
  const length = Math.abs(seconds);
  const i = SPANS.findIndex(([unit]) => length >= unit);
  if (i < 0 || i === SPANS.length - 1) return sign + number(length) + ' s';
  const [unit, name] = SPANS[i], [below, nameBelow] = SPANS[i + 1];
  const rounded = Math.round(length / below) * below;
  if (i > 0 && rounded >= SPANS[i - 1][0]) return sign + span(rounded); // 60 min are 1 h
  const low = Math.round(rounded % unit / below);
  return sign + number(Math.floor(rounded / unit)) + ' ' + name + (low ? ' ' + low + ' ' + nameBelow : '');
}

// Clock writes instants. Where the origin of the log is known they are dates, in the
// zone of the machine.
class Clock {
  constructor(origin, zone) {
    this.origin = origin; // seconds since 1970 at time 0, or null
    this.dates = null;
    this.room = origin === null ? 110 : 140; // pixels that a mark of an axis needs
    if (origin === null) return;
    const parts = {year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'};
    try {
      this.dates = new Intl.DateTimeFormat('sv', {timeZone: zone || 'UTC', ...parts});
    } catch {
      this.dates = new Intl.DateTimeFormat('sv', {timeZone: 'UTC', ...parts}); // a zone that the browser does not know
    }
  }

  // date is an instant as 2026-11-22 06:30:00.
  date(time) { return this.dates.format(new Date((this.origin + time) * 1000)); }

  // shift is what makes an instant the seconds of a day that begins at midnight.
  shift(time) {
    return this.origin === null ? 0 : Date.parse(this.date(Math.floor(time)).replace(' ', 'T') + 'Z') / 1000 - Math.floor(time);
  }

  // marks are the instants of an axis at multiples of step, counted from midnight.
  marks(from, to, step) {
    const shift = this.shift(from);
    return marks(from + shift, to + shift, step).map(t => t - shift);
  }

  text(time, detail = 1) {
    if (!Number.isFinite(time)) return '–';
    if (this.dates) return this.date(time).slice(0, detail >= 86400 ? 10 : detail >= 60 ? 16 : 19) + fraction(time, detail);
    const sign = time < 0 ? '−' : '';
    const all = Math.abs(time);
    const days = Math.floor(all / 86400);
    if (detail >= 86400) return sign + 'day ' + days;
    const two = n => String(Math.floor(n)).padStart(2, '0');
    let clock = two(all / 3600 % 24) + ':' + two(all / 60 % 60);
    if (detail < 60) clock += ':' + two(all % 60) + fraction(all, detail);
    return sign + (days ? days + ' d ' : '') + clock;
  }
}

// fraction is the part of a second, where marks are so near each other.
function fraction(time, detail) {
  return detail < 1 ? (time - Math.floor(time)).toFixed(Math.min(6, Math.ceil(-Math.log10(detail)))).slice(1) : '';
}

const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600];

// niceStep is a distance of marks on an axis of time that leaves at most so many.
function niceStep(length, marks) {
  const least = length / marks;
  if (least <= 1) return roundStep(least);
  for (const s of STEPS) if (s >= least) return s;
  return 86400 * Math.max(1, roundStep(least / 86400));
}

// roundStep is 1, 2 or 5 times a power of ten, and no less than least.
function roundStep(least) {
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  for (const f of [1, 2, 5]) if (f * power >= least * (1 - 1e-9)) return f * power;
  return 10 * power;
}

// marks are the multiples of step from one value to another.
function marks(from, to, step) {
  const all = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) all.push(k * step);
  return all;
}
