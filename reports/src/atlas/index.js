'use strict';
// Colours the cells of the matrix; the data is described in reports/src/atlas/index_page.rs.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const choices = ['mode', 'shape', 'source'];
const group = n => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const counted = (n, noun) => group(n) + ' ' + noun + (n === 1 ? '' : 's');
const ENDED = new Set(['Crash', 'Timeout', 'DeviceLost', 'InternalError']);

// The rows with their links: the name, and one in each cell.
const rows = [...document.querySelectorAll('#cells tr[data-row]')].map(row => ({
  row, number: Number(row.dataset.row), name: row.querySelector('th').textContent.toLowerCase(),
  link: row.querySelector('a'), cells: [...row.querySelectorAll('td')] }));
for (const { cells, link } of rows) {
  link.tabIndex = -1;
  for (const cell of cells) {
    const a = document.createElement('a');
    a.href = link.getAttribute('href');
    a.tabIndex = -1;
    cell.append(a);
  }
}

// Margins are cut off, so that none is shown as the bound from below.
function margin(value) {
  if (value === 0) return '0';
  if (value < 0.01) return '<.01';
  return value >= 1 ? '1.0' : (Math.floor(value * 100) / 100).toFixed(2);
}
function share(value) {
  const percent = 100 * value;
  return percent < 1 ? '<1%' : percent > 99 && percent < 100 ? '>99%' : Math.round(percent) + '%';
}
const step = value => value <= 0 ? 0 : value <= 0.25 ? 1 : value <= 0.5 ? 2 : value <= 0.75 ? 3 : 4;

// The results of the chosen modes, shape and source in each cell.
function chosen() {
  const want = choices.map(id => Number($(id).value));
  const cells = new Map();
  for (const entry of data.entries) {
    if (want.some((choice, k) => choice >= 0 && entry[2 + k] !== choice)) continue;
    const key = entry[0] + ',' + entry[1];
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(entry);
  }
  return cells;
}

function describe(list, name, column) {
  const counts = new Map();
  let most = 0, all = 0, replaced = 0, greatest = -1, failing = 0;
  for (const entry of list) {
    counts.set(entry[5], (counts.get(entry[5]) || 0) + entry[6]);
    greatest = greatest === -2 || entry[7] === -2 ? -2 : Math.max(greatest, entry[7]);
    failing = Math.max(failing, entry[8]);
    all += entry[9];
    most = Math.max(most, entry[10]);
    replaced += entry[11];
  }
  const parts = [...counts].map(([status, n]) => data.statuses[status].name + ' in ' + counted(n, 'case'));
  if (greatest !== -1) parts.push('margin up to ' + (greatest === -2 ? 'inf' : Number(greatest.toPrecision(3))));
  if (failing) parts.push('up to ' + share(failing) + ' of the inputs fail');
  if (most) parts.push('up to ' + counted(most, 'input') + (all ? ', every possible input in ' + counted(all, 'case') : ''));
  if (replaced) parts.push(counted(replaced, 'case') + ' chosen from several runs for the most inputs');
  return name + ', ' + column + ': ' + (list.length ? parts.join('; ') : 'not run');
}

function fill() {
  const cells = chosen();
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const device = $('device') ? $('device').value : '-1';
  let shown = 0;
  for (const { row, number, name, cells: list } of rows) {
    let notable = false;
    list.forEach((cell, column) => {
      const results = cells.get(number + ',' + column) || [];
      const worst = results.reduce((a, b) => !a || data.statuses[b[5]].severity > data.statuses[a[5]].severity ? b : a, null);
      const status = worst && data.statuses[worst[5]];
      const same = results.filter(entry => entry[5] === (worst && worst[5]));
      const greatest = same.reduce((a, entry) => a === -2 || entry[7] === -2 ? -2 : Math.max(a, entry[7]), -1);
      const link = cell.firstChild;
      let kind = 'none', text = '·';
      if (status && status.name === 'Pass') { kind = 'm' + step(greatest); text = greatest < 0 ? '0' : margin(greatest); }
      else if (status && status.name === 'Fail') { kind = 'Fail'; text = status.sign + ' ' + share(Math.max(...same.map(entry => entry[8]))); }
      else if (status) { kind = ENDED.has(status.name) ? 'Ended' : status.name; text = status.sign; }
      if (status && (device === '-1' || cell.dataset.device === device)) notable ||= ['Fail', 'QualityWarning', 'Ended'].includes(kind);
      link.className = 'cell ' + kind + (results.some(entry => entry[9]) ? ' exhaustive' : '');
      link.textContent = text;
      const title = describe(results, row.querySelector('th').textContent, data.columns[column]);
      link.title = title;
      link.setAttribute('aria-label', text + ' · ' + title);
    });
    row.hidden = !words.every(word => name.includes(word)) || ($('notable').checked && !notable);
    shown += !row.hidden;
  }
  document.querySelectorAll('#cells tbody').forEach(body => { body.hidden = ![...body.querySelectorAll('tr[data-row]')].some(row => !row.hidden); });
  document.querySelectorAll('#cells [data-device]').forEach(cell => { cell.hidden = device !== '-1' && cell.dataset.device !== device; });
  $('shown').textContent = shown + ' of ' + counted(rows.length, 'instruction');
  stick();
  enter();
}

// The second row of the head sticks below the first, whose height depends on the names of the devices.
const stick = () => $('cells').style.setProperty('--head', document.querySelector('#cells thead tr').offsetHeight + 'px');
addEventListener('resize', stick);

// One cell is in the tab order; arrow keys move to others.
let current = null;
function grid() {
  return rows.filter(({ row }) => !row.hidden).map(({ link, cells }) => [link, ...cells.filter(cell => !cell.hidden).map(cell => cell.firstChild)]);
}
function enter(to) {
  const all = grid();
  const next = to || (current && all.some(line => line.includes(current)) ? current : all.length ? all[0][0] : null);
  if (current) current.tabIndex = -1;
  current = next;
  if (current) current.tabIndex = 0;
}
$('cells').addEventListener('keydown', event => {
  const all = grid(), y = all.findIndex(line => line.includes(document.activeElement));
  if (y < 0) return;
  const x = all[y].indexOf(document.activeElement);
  const moves = { ArrowUp: [y - 1, x], ArrowDown: [y + 1, x], ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], Home: [y, 0], End: [y, all[y].length - 1] };
  const to = moves[event.key] && (all[moves[event.key][0]] || [])[moves[event.key][1]];
  if (!moves[event.key]) return;
  event.preventDefault();
  if (to) { enter(to); to.focus(); }
});
$('cells').addEventListener('focusin', event => { if (event.target.matches('#cells a')) enter(event.target); });

// The address has the choices, so that it leads to what is shown.
const named = { mode: data.modes, shape: data.shapes, source: data.sources };
const standard = Object.fromEntries(choices.map(id => [id, $(id).value]));
function remember() {
  const params = new URLSearchParams();
  for (const id of choices) if ($(id).value !== standard[id]) params.set(id, named[id][$(id).value] || 'any');
  if ($('device') && $('device').value !== '-1') params.set('device', $('device').value);
  if ($('filter').value) params.set('filter', $('filter').value);
  if ($('notable').checked) params.set('notable', '1');
  const text = params.toString();
  history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
}
function recall() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const id of choices) {
    const at = params.get(id) === 'any' ? -1 : named[id].indexOf(params.get(id));
    $(id).value = params.has(id) && (at >= 0 || params.get(id) === 'any') ? String(at) : standard[id];
  }
  if ($('device')) { $('device').value = params.get('device') || '-1'; if (!$('device').value) $('device').value = '-1'; }
  $('filter').value = params.get('filter') || '';
  $('notable').checked = params.has('notable');
  fill();
}
for (const id of [...choices, 'device', 'notable']) if ($(id)) $(id).addEventListener('change', () => { fill(); remember(); });
$('filter').addEventListener('input', () => { fill(); remember(); });
// A link to a section changes nothing.
addEventListener('hashchange', () => { if (!document.getElementById(location.hash.slice(1))) recall(); });
recall();
document.body.dataset.ready = '1';
