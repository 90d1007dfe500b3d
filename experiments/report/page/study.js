'use strict';
// The page of a study: which measure is shown, and tables in the order of a column.
const byId = id => document.getElementById(id);

// A cell as a number, if it is one: "12 ± 3" by what stands first.
function numberOf(text) {
  const v = parseFloat(text.replace(/−/g, '-'));
  return Number.isNaN(v) ? null : v;
}

function sortBy(table, column, button) {
  const body = table.tBodies[0], rows = [...body.rows];
  const falls = button.parentElement.getAttribute('aria-sort') === 'ascending';
  for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
  button.parentElement.setAttribute('aria-sort', falls ? 'descending' : 'ascending');
  const numbers = rows.every(r => { const t = r.cells[column].textContent.trim(); return t === '–' || t === '' || numberOf(t) !== null; });
  const compare = (a, b) => {
    const x = a.cells[column].textContent.trim(), y = b.cells[column].textContent.trim();
    if (!numbers) return x < y ? -1 : x > y ? 1 : 0;
    const v = numberOf(x), w = numberOf(y);
    if (v === null || w === null) return (v === null) - (w === null);
    return v - w;
  };
  rows.sort((a, b) => falls ? compare(b, a) : compare(a, b));
  body.append(...rows);
}

for (const table of document.querySelectorAll('table.sortable')) {
  [...table.tHead.rows[0].cells].forEach((th, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = th.textContent;
    button.title = 'Sort by this column';
    button.addEventListener('click', () => sortBy(table, column, button));
    th.replaceChildren(button);
  });
}

const measure = byId('measure');
function show() {
  for (const s of document.querySelectorAll('section.measure')) s.hidden = measure.value !== '' && s.id !== measure.value;
}
measure.addEventListener('change', show);
byId('controls').addEventListener('submit', e => e.preventDefault());
byId('controls').hidden = measure.options.length < 3;
show();
document.documentElement.dataset.ready = '';
