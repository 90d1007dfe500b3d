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
  let rest = Math.abs(seconds);
  for (let i = 0; i < SPANS.length; i++) {
    const [unit, name] = SPANS[i];
    if (rest < unit && i < SPANS.length - 1) continue;
    if (unit === 1) return sign + number(rest) + ' s';
    const [below, nameBelow] = SPANS[i + 1];
    let high = Math.floor(rest / unit), low = Math.round((rest - high * unit) / below);
    if (low * below >= unit) { high++; low = 0; }
    return sign + number(high) + ' ' + name + (low ? ' ' + low + ' ' + nameBelow : '');
  }
}

// Clock writes instants. Where the origin of the log is known they are dates.
class Clock {
  constructor(origin, zone) {
    this.origin = origin; // seconds since 1970, or null
    this.zone = zone; // seconds east of Greenwich
  }

  text(time, detail = 1) {
    if (!Number.isFinite(time)) return '–';
    if (this.origin !== null) {
      const iso = new Date((this.origin + this.zone + time) * 1000).toISOString();
      return iso.slice(0, 10) + (detail < 86400 ? ' ' + iso.slice(11, detail < 60 ? 19 : 16) : '');
    }
    const sign = time < 0 ? '−' : '';
    const all = Math.abs(time);
    const two = n => String(n).padStart(2, '0');
    const days = Math.floor(all / 86400);
    const parts = [Math.floor(all / 3600) % 24, Math.floor(all / 60) % 60];
    let clock = parts.map(two).join(':');
    if (detail < 60) clock += ':' + two(Math.floor(all % 60)) + (detail < 1 ? (all % 1).toFixed(Math.min(6, Math.ceil(-Math.log10(detail)))).slice(1) : '');
    if (detail >= 86400) return sign + 'day ' + days;
    return sign + (days ? days + ' d ' : '') + clock;
  }
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
