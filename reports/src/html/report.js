'use strict';
// The data: columns of cases with interned strings; see reports/src/html/page_data.rs.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const cases = data.cases, total = cases.name.length, multi = data.runs.length > 1;
const STATUSES = data.statuses, BAD = new Set(data.failing);
const group = n => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const counted = (n, noun) => group(n) + ' ' + noun + (n === 1 ? '' : 's');
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value); else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child != null));
  return node;
}
function margin(value) {
  if (value == null) return '';
  if (value === 'inf') return 'inf';
  if (value === 0) return '0';
  if (value < 1e-3 || value >= 1e6) return value.toExponential(1);
  // Close to the limit, show the distance from it.
  if (value !== 1 && Math.abs(value - 1) < 1e-6) return '1 ' + (value > 1 ? '+ ' : '− ') + Math.abs(value - 1).toExponential(0);
  const digits = value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0;
  // Never round to the limit from either side.
  for (const d of [digits, 6, 9, 16]) { const text = value.toFixed(d); if (value === 1 || Number(text) !== 1) return text; }
  return String(value);
}
// A percentage that is never rounded to none or all.
function share(part, of) {
  if (!of) return '';
  const text = (100 * part / of).toFixed(2);
  return (text === '0.00' && part > 0 ? '<0.01' : text === '100.00' && part < of ? '>99.99' : text) + ' %';
}
const number = value => value === 'inf' ? Infinity : value == null ? -1 : value;
const statusOf = i => STATUSES[cases.status[i]];
const colour = status => 'var(--' + status + ')';
const label = i => cases.standing[i] ? statusOf(i) + ' · ' + data.standings[cases.standing[i]] : statusOf(i);
// Quotes a word for a shell, as harness/events/src/rerun_command.rs does.
const quoted = word => /^[\p{L}\p{N}\-_./:=+,@%]*$/u.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
const rerun = i => { const run = data.runs[cases.run[i]]; return run.check || 'assay run ' + quoted(cases.name[i]) + run.again; };
// A command with a button that copies it.
function command(text) {
  const code = el('code', {}, text);
  const button = el('button', { type: 'button', class: 'copy', 'aria-label': 'Copy: ' + text, onclick: event => {
    event.stopPropagation();
    const done = () => { button.textContent = 'copied'; setTimeout(() => { button.textContent = 'copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren(code); if (document.execCommand('copy')) done(); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select); else select();
  } }, 'copy');
  return el('span', { class: 'command' }, code, button);
}

// Verdicts.
$('subtitle').textContent = data.runs.map(run => run.device).join(' · ') + ' — ' + counted(total, 'result');
data.runs.forEach((run, r) => {
  const standings = new Map();
  for (let i = 0; i < total; i++) if (cases.run[i] === r && cases.standing[i]) {
    const standing = data.standings[cases.standing[i]];
    standings.set(standing, (standings.get(standing) || 0) + 1);
  }
  const listed = [...standings].map(([name, n]) => group(n) + ' ' + name).join(', ');
  $('verdicts').append(el('div', { class: 'verdict', style: '--c:' + colour(run.colour) },
    el('strong', {}, run.verdict), el('br'), el('span', { class: 'dim' }, run.line),
    ...(listed ? [el('br'), el('span', {}, "against the lab's lists: " + listed)] : []),
    ...run.waivers.flatMap(waiver => [el('br'), el('span', {}, waiver)])));
});

// Overview of suites.
{
  const suites = new Map();
  for (let i = 0; i < total; i++) {
    const suite = data.suites[cases.suite[i]];
    if (!suites.has(suite)) suites.set(suite, data.runs.map(() => new Array(STATUSES.length).fill(0)));
    suites.get(suite)[cases.run[i]][cases.status[i]]++;
  }
  // One line per family of suites, and one per suite with failures or warnings. A button shows the other suites.
  const families = new Map();
  for (const [suite, runs] of [...suites].sort((a, b) => a[0] < b[0] ? -1 : 1)) {
    const name = suite.includes('/') ? suite : suite.split('.')[0];
    if (!families.has(name)) families.set(name, { suites: [], runs: data.runs.map(() => new Array(STATUSES.length).fill(0)) });
    const family = families.get(name);
    family.suites.push([suite, runs]);
    runs.forEach((counts, run) => counts.forEach((n, s) => { family.runs[run][s] += n; }));
  }
  const worth = s => BAD.has(STATUSES[s]) || STATUSES[s] === 'QualityWarning';
  const cell = counts => {
    // Worst first.
    const parts = counts.map((n, s) => [s, n]).filter(([, n]) => n).reverse();
    return el('td', {}, el('div', { class: 'sum' },
      el('div', { class: 'bar', 'aria-hidden': 'true' }, ...[...parts].reverse().map(([s, n]) => el('i', { style: 'flex:' + n + ';background:' + colour(STATUSES[s]) }))),
      el('span', {}, ...parts.map(([s, n]) => el('span', worth(s) ? { class: 'status', style: 'color:' + colour(STATUSES[s]) } : { class: STATUSES[s] === 'Pass' ? null : 'dim' }, group(n) + ' ' + STATUSES[s])))));
  };
  // The suite of a shader is its folder.
  const prefixOf = name => name + (name.includes('/') ? '/' : '.');
  const link = name => el('a', { href: '#cases', onclick: event => { event.preventDefault(); state.filter = prefixOf(name); state.cause = ''; refresh(); remember(true); $('cases').scrollIntoView(); } }, name);
  const head = el('tr', {}, el('th', {}, 'suite'), ...data.runs.map(run => el('th', {}, run.device, ' ', el('span', { class: 'dim' }, run.driver))));
  const rows = [];
  let quiet = 0;
  for (const [name, { suites: list, runs }] of families) {
    rows.push(el('tr', { class: 'family' }, el('td', {}, link(name)), ...runs.map(cell)));
    if (list.length === 1 && list[0][0] === name) continue;
    for (const [suite, counts] of list) {
      const shown = counts.some(of => of.some((n, s) => n && worth(s)));
      quiet += !shown;
      rows.push(el('tr', { class: shown ? 'suite' : 'suite quiet' }, el('td', {}, link(suite)), ...counts.map(cell)));
    }
  }
  const table = el('table', { class: 'overview' }, el('thead', {}, head), el('tbody', {}, ...rows));
  $('suites').append(table);
  if (quiet) {
    const button = el('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
      const all = table.classList.toggle('all');
      button.setAttribute('aria-pressed', all);
    } }, 'all ' + group(suites.size) + ' suites');
    $('suites').before(el('div', { class: 'controls' }, button, el('span', { class: 'dim' }, group(quiet) + ' without failures or warnings are hidden')));
  }
}

// Causes. One entry for each title, with the runs in which it occurs.
const causes = new Map();
for (const cause of data.causes) {
  if (!causes.has(cause.title)) causes.set(cause.title, { runs: [], cases: new Set() });
  const entry = causes.get(cause.title);
  entry.runs.push(cause);
  cause.cases.forEach(i => entry.cases.add(i));
}
for (const [title, { runs }] of causes) {
  const first = runs[0], i = first.representative;
  const facts = runs.map(cause => el('p', { class: 'facts' }, multi ? el('strong', {}, data.runs[cause.run].device + ': ') : null,
    el('span', {}, cause.extent), ...[cause.severity, ...cause.shared].filter(Boolean).map(text => el('span', {}, text))));
  $('causelist').append(el('li', { class: 'cause', 'data-cause': title, style: '--c:' + colour(first.status) },
    el('button', { type: 'button', class: 'title', 'aria-pressed': 'false', onclick: () => {
      state.cause = state.cause === title ? '' : title;
      refresh(); remember(true);
    } }, title), ...facts,
    i == null ? null : el('p', {}, el('a', { class: 'mono', href: addressOf(i), onclick: event => { event.preventDefault(); openCase(i, true); } }, cases.name[i])),
    i == null ? null : command(rerun(i)),
    first.example ? examples([first.example]) : null));
}
// Without contents, a section is not shown.
function hideSection(id) {
  $(id).hidden = true;
  document.querySelector(`nav a[href="#${id}"]`).hidden = true;
}
if (!causes.size) hideSection('causes');
for (const [name, meaning] of data.class_words) $('words').append(el('dt', {}, name), el('dd', {}, meaning));

// The sets of cases that a button selects, by its title.
const selections = new Map([...causes].map(([title, cause]) => [title, cause.cases]));

// Changes since an earlier run. Each kind with cases on this page selects them.
if (data.since) {
  const since = data.since;
  const kinds = since.kinds.map(({ title, worse, cases: changed, names }) => {
    const key = title + ' since ' + since.folder, style = worse ? 'color:' + colour('Fail') : null;
    if (changed.length) selections.set(key, new Set(changed));
    return el('div', {}, !changed.length ? el('span', { style }, title) : el('button', { type: 'button', style, 'data-select': key, 'aria-pressed': 'false', onclick: () => {
      state.cause = state.cause === key ? '' : key;
      refresh(); remember(true); $('cases').scrollIntoView();
    } }, title), names.length ? el('details', {}, el('summary', {}, 'names'), el('pre', {}, names.join('\n'))) : null);
  });
  $('verdicts').append(el('div', { class: 'verdict', id: 'since', style: '--c:' + colour(since.worse ? 'Fail' : 'Pass') },
    el('strong', {}, (since.worse ? 'Worse than ' : 'Not worse than ') + since.folder), el('br'), el('span', { class: 'dim' }, since.run),
    ...since.caveats.map(text => el('div', {}, 'Note: ' + text)), ...kinds, el('div', { class: 'dim' }, group(since.unchanged) + ' unchanged'),
    ...since.causes.map(([title, text]) => el('div', {}, title + ': ' + text))));
}

// The table of cases. The document contains visible rows only.
const view = $('view'), space = $('space'), detail = $('detail');
let ROW = 26;
const of = i => cases.failing[i] / Math.max(1, cases.inputs[i]);
const reasonOf = i => cases.reason[i] < 0 ? '' : data.reasons[cases.reason[i]];
// The first line without the file's name, which the row has.
const shortReason = i => {
  const [line] = reasonOf(i).split('\n'), file = cases.name[i].replace(/:[^:/]*$/, '');
  return line.startsWith(file) ? line.slice(file.length).replace(/^[: ]+/, '') : line;
};
const some = fine => cases.name.some((_, i) => fine(i));
// Cases of shaders have no instruction. Their reasons, or the counts of written elements, tell them apart.
const hasReasons = some(i => !data.instructions[cases.instruction[i]] && reasonOf(i));
// Name, key, class, and whether any case has a value.
const columns = [
  ['status', i => cases.status[i]], ['name', i => i], ['reason', i => cases.reason[i], '', hasReasons],
  ['class', i => cases.class[i], '', some(i => data.classes[cases.class[i]])], ['failing', of, 'n', some(i => cases.failing[i])],
  ['margin', i => number(cases.margin[i]), 'n', some(i => cases.margin[i] != null)],
  ['inputs', i => cases.inputs[i], 'n'], ['seconds', i => cases.seconds[i], 'n'],
  ['source', i => cases.source[i], '', some(i => data.sources[cases.source[i]])], ['device', i => cases.run[i], '', multi]].filter(([, , , used]) => used !== false);
// The widths of the columns that a window of some width shows.
for (const [layout, widths] of Object.entries({
  wide: { status: '8.5rem', name: 'minmax(14rem, 1fr)', reason: 'minmax(14rem, 1.2fr)', class: '9rem', failing: '5rem', margin: '5rem', inputs: '5.5rem', seconds: '4.5rem', source: '5.5rem', device: '12rem' },
  medium: { status: '7rem', name: 'minmax(8rem, 1fr)', reason: 'minmax(8rem, 1fr)', class: multi ? '6rem' : '7rem', failing: '4.5rem', ...(multi ? { device: '9rem' } : { margin: '4.5rem' }) },
  beside: { status: '7rem', name: 'minmax(8rem, 1fr)', class: '6rem', failing: '4.5rem' },
  printed: { status: '8.5em', name: 'minmax(0, 1fr)', reason: 'minmax(0, 1fr)', class: '8em', failing: '5em', margin: '5em' } })) {
  $('grid').style.setProperty('--' + layout, columns.map(([name]) => widths[name]).filter(Boolean).join(' '));
}
if (multi) $('grid').classList.add('multi');
let order = Int32Array.from({ length: total }, (_, i) => i), selected = -1, opened = -1;
// What the page shows; its address has it, so that links and the back button lead to it.
const state = { filter: '', cause: '', hidden: new Set(), sort: 'status', down: true };
const lower = cases.name.map(name => name.toLowerCase());
columns.forEach(([name, , n]) => {
  const button = el('button', { class: n, type: 'button', onclick: () => {
    state.down = state.sort === name ? !state.down : n === 'n';
    state.sort = name;
    refresh(); remember();
  } }, name);
  $('head').append(el('span', { role: 'columnheader', class: 'c-' + name + (n ? ' n' : ''), 'data-column': name }, button));
});
const totals = new Array(STATUSES.length).fill(0);
for (const s of cases.status) totals[s]++;
STATUSES.forEach((status, s) => {
  if (!totals[s]) return;
  $('statuses').append(el('button', { type: 'button', 'data-status': status, onclick: () => {
    if (!state.hidden.delete(status)) state.hidden.add(status);
    refresh(); remember();
  } }, el('span', { style: 'color:' + colour(status) }, '● '), status + ' ' + group(totals[s])), ' ');
});
$('nocause').addEventListener('click', () => { state.cause = ''; refresh(); remember(true); });
function matcher(text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    if (!word.includes('*')) return name => name.includes(word);
    const parts = word.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(parts.join('.*'));
    return name => pattern.test(name);
  });
  return name => words.every(word => word(name));
}
function refresh() {
  const fits = matcher(state.filter), cause = selections.get(state.cause);
  const on = STATUSES.map(status => !state.hidden.has(status));
  const kept = [];
  for (let i = 0; i < total; i++) if (on[cases.status[i]] && (!cause || cause.has(i)) && fits(lower[i])) kept.push(i);
  const key = columns.find(([name]) => name === state.sort)[1];
  const keys = new Float64Array(total);
  for (const i of kept) keys[i] = key(i);
  const way = state.down ? -1 : 1;
  kept.sort((a, b) => way * (keys[a] - keys[b]) || a - b);
  order = Int32Array.from(kept);
  for (const head of $('head').children) {
    const sorted = head.dataset.column === state.sort;
    head.setAttribute('aria-sort', sorted ? (state.down ? 'descending' : 'ascending') : 'none');
    head.firstChild.textContent = head.dataset.column + (sorted ? (state.down ? ' ▼' : ' ▲') : '');
  }
  for (const button of $('statuses').querySelectorAll('button')) button.setAttribute('aria-pressed', !state.hidden.has(button.dataset.status));
  for (const item of document.querySelectorAll('.cause')) {
    item.querySelector('.title').setAttribute('aria-pressed', item.dataset.cause === state.cause);
    item.classList.toggle('other', Boolean(cause) && item.dataset.cause !== state.cause);
  }
  for (const button of document.querySelectorAll('[data-select]')) button.setAttribute('aria-pressed', button.dataset.select === state.cause);
  $('nocause').hidden = !cause;
  $('nocause').textContent = cause ? '✕ ' + state.cause : '';
  $('shown').textContent = group(order.length) + ' of ' + group(total);
  view.setAttribute('aria-rowcount', order.length + 1);
  document.body.classList.toggle('filtered', order.length < total);
  if ($('filter').value !== state.filter) $('filter').value = state.filter;
  selected = order.indexOf(opened);
  layout();
  view.scrollTop = Math.max(0, selected) * ROW;
  draw();
}
// Rows are taller on a narrow screen, where a name has lines of its own.
function layout() {
  ROW = parseFloat(getComputedStyle(view).getPropertyValue('--row')) || 26;
  space.style.height = order.length * ROW + 'px';
}
function rowOf(at) {
  const i = order[at], kind = data.classes[cases.class[i]];
  const cells = {
    status: el('span', { class: 'status', style: 'color:' + colour(statusOf(i)), title: reasonOf(i) || null }, label(i)),
    name: el('span', { class: cases.name[i].includes('/') ? 'mono path' : 'mono', title: cases.name[i] }, el('bdi', {}, cases.name[i])),
    reason: el('span', { class: 'dim', title: reasonOf(i) }, shortReason(i)), class: el('span', { title: kind }, kind),
    failing: el('span', { title: cases.failing[i] ? group(cases.failing[i]) + ' of ' + group(cases.inputs[i]) + ' inputs' : null }, cases.failing[i] ? share(cases.failing[i], cases.inputs[i]) : ''),
    margin: el('span', {}, margin(cases.margin[i])), inputs: el('span', {}, group(cases.inputs[i])), seconds: el('span', {}, cases.seconds[i].toFixed(2)),
    source: el('span', {}, data.sources[cases.source[i]]) };
  if (multi) cells.device = el('span', {}, data.runs[cases.run[i]].device);
  for (const [name, , n] of columns) {
    cells[name].setAttribute('role', 'gridcell');
    cells[name].classList.add('c-' + name);
    if (n) cells[name].classList.add('n');
  }
  return el('div', { class: 'row', role: 'row', id: 'row' + at, 'aria-rowindex': at + 2, 'aria-selected': at === selected, style: 'top:' + at * ROW + 'px',
    onclick: () => { selected = at; openCase(i, true); } }, ...columns.map(([name]) => cells[name]));
}
function draw() {
  const from = Math.max(0, Math.floor(view.scrollTop / ROW) - 8);
  drawRows(from, Math.min(order.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + 8));
}
function drawRows(from, to) {
  const rows = [];
  for (let at = from; at < to; at++) rows.push(rowOf(at));
  if (!order.length) rows.push(el('p', { class: 'dim empty' }, 'No case matches.'));
  space.replaceChildren(...rows);
  if (selected >= from && selected < to) view.setAttribute('aria-activedescendant', 'row' + selected); else view.removeAttribute('aria-activedescendant');
}
view.addEventListener('scroll', () => requestAnimationFrame(draw));
// In print: what is filtered, up to a number of rows, and a note about the others.
const PRINTED = 500;
addEventListener('beforeprint', () => {
  drawRows(0, Math.min(order.length, PRINTED));
  if (order.length > PRINTED) space.append(el('p', { class: 'dim' }, 'The first ' + PRINTED + ' of ' + group(order.length) + '; all are in results.csv.'));
});
addEventListener('afterprint', draw);
addEventListener('resize', () => { layout(); draw(); });
$('filter').addEventListener('input', () => { state.filter = $('filter').value; refresh(); remember(); });
view.addEventListener('keydown', event => {
  const page = Math.max(1, Math.floor(view.clientHeight / ROW) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -order.length, End: order.length };
  if (event.key === 'Enter' && selected >= 0) { openCase(order[selected], true); detail.focus(); event.preventDefault(); return; }
  if (!(event.key in steps) || !order.length) return;
  event.preventDefault();
  selected = Math.min(order.length - 1, Math.max(0, selected + steps[event.key]));
  const top = selected * ROW;
  if (top < view.scrollTop) view.scrollTop = top;
  if (top + ROW > view.scrollTop + view.clientHeight) view.scrollTop = top + ROW - view.clientHeight;
  // An open case follows the selection.
  if (opened >= 0) { opened = order[selected]; show(opened); remember(); }
  draw();
});
addEventListener('keydown', event => {
  if (event.key === '/' && !['INPUT', 'SELECT'].includes(document.activeElement.tagName)) { $('filter').focus(); event.preventDefault(); }
  if (event.key === 'Escape' && opened >= 0) { closeCase(); event.preventDefault(); }
});

// The address: #case=NAME&filter=TEXT&cause=TITLE&hide=STATUS&sort=COLUMN; &run=NUMBER if there are several runs.
function address(opened) {
  const all = new URLSearchParams();
  if (opened >= 0) { all.set('case', cases.name[opened]); if (multi) all.set('run', cases.run[opened]); }
  if (state.filter) all.set('filter', state.filter);
  if (state.cause) all.set('cause', state.cause);
  for (const status of state.hidden) all.append('hide', status);
  if (state.sort !== 'status' || !state.down) all.set('sort', (state.down ? '-' : '') + state.sort);
  return '#' + (all.toString() || 'cases');
}
function addressOf(i) {
  const all = new URLSearchParams([['case', cases.name[i]]]);
  if (multi) all.set('run', cases.run[i]);
  return '#' + all;
}
// Puts what is shown into the address; as a step for the back button if `step`.
function remember(step) {
  const to = address(opened);
  if (to !== location.hash) history[step ? 'pushState' : 'replaceState'](null, '', to);
}
// Shows what the address says; an address without `=` is a section of the page.
function restore() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes('=') && document.getElementById(hash)) return;
  const all = new URLSearchParams(hash), known = columns.map(([name]) => name), sort = all.get('sort') || '-status';
  state.filter = all.get('filter') || '';
  state.cause = selections.has(all.get('cause')) ? all.get('cause') : '';
  state.hidden = new Set(all.getAll('hide').filter(status => STATUSES.includes(status)));
  state.down = sort.startsWith('-');
  state.sort = known.includes(sort.replace(/^-/, '')) ? sort.replace(/^-/, '') : 'status';
  const name = all.get('case'), run = Number(all.get('run') || 0);
  opened = name == null ? -1 : cases.name.findIndex((each, i) => each === name && cases.run[i] === run);
  refresh();
  if (opened >= 0) show(opened); else hide();
  if (hash) $('cases').scrollIntoView();
}
addEventListener('popstate', restore);
addEventListener('hashchange', restore);

// A single case, beside the table or, on a narrow screen, over it.
function openCase(i, step) {
  opened = i;
  selected = order.indexOf(i);
  show(i);
  layout();
  draw();
  remember(step);
}
function show(i) {
  detail.replaceChildren(el('div', { class: 'top' }, el('h3', { class: 'mono' }, cases.name[i]),
    el('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: closeCase }, '✕')), ...content(i));
  detail.hidden = false;
  detail.scrollTop = 0;
  $('split').classList.add('open');
}
function hide() {
  detail.hidden = true;
  $('split').classList.remove('open');
}
function closeCase() {
  opened = -1;
  hide();
  layout();
  draw();
  remember(true);
  view.focus({ preventScroll: true });
}
function facts(pairs) {
  return el('dl', {}, ...pairs.filter(([, value]) => value !== '' && value != null).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}
// Examples of programs name an element and have no command of their own.
function examples(list) {
  const derived = list.some(x => x.explain), margins = list.some(x => x.margin != null);
  const heads = [derived ? 'operands' : 'element', 'got', 'permitted', ...(margins ? ['margin'] : [])];
  const rows = list.flatMap(x => {
    const cells = [x.operands, x.got, x.permitted.length ? x.permitted.join(' or ') : 'nothing', ...(margins ? [margin(x.margin)] : [])];
    const row = el('tr', {}, ...cells.map((text, k) => el('td', { class: 'mono', 'data-head': heads[k] }, text)));
    if (!derived) return [row];
    return [row, el('tr', { class: 'derive' }, el('td', { colspan: heads.length }, command(x.explain),
      x.derivation ? el('details', {}, el('summary', {}, 'derivation'), el('pre', {}, x.derivation)) : null))];
  });
  return el('table', { class: 'examples' }, el('thead', {}, el('tr', {}, ...heads.map(head => el('th', {}, head)))), el('tbody', {}, ...rows));
}
// Picture of the texels that a gather reads, drawn by reports/src/html/gather_footprint.rs.
function footprint(f) {
  const figure = el('figure', { class: 'footprint' });
  figure.innerHTML = f.svg;
  figure.append(el('figcaption', {}, el('strong', {}, f.title), ' ', f.caption));
  return figure;
}
function content(i) {
  const run = data.runs[cases.run[i]], more = data.details[i];
  const of = [...causes].filter(([, cause]) => cause.cases.has(i)).map(([title]) => el('div', {}, title));
  const parts = [facts([
    ['status', el('span', { class: 'status', style: 'color:' + colour(statusOf(i)) }, label(i))],
    ['reason', cases.reason[i] < 0 ? '' : data.reasons[cases.reason[i]]], ['cause', of.length ? el('div', {}, ...of) : ''],
    ['expectation', more && more.why], ['device', run.device + ', ' + run.driver],
    ['instruction', (data.instructions[cases.instruction[i]] + '  ' + data.types[cases.types[i]]).trim()],
    ['path', ['NotSupported', 'Undetermined'].includes(statusOf(i)) ? '' : data.paths[cases.path[i]]], ['modes', data.modes[cases.modes[i]]], ['rule', more && more.rule], ['clause', more && more.clause],
    ['inputs', group(cases.inputs[i]) + (more && more.coverage ? ' (' + more.coverage + ')' : '')],
    ['failing inputs', cases.failing[i] ? group(cases.failing[i]) + ' (' + share(cases.failing[i], cases.inputs[i]) + ')' : ''], ['greatest margin', margin(cases.margin[i])],
    ['reproduce', command(rerun(i))]])];
  const shape = data.footprints.find(f => cases.name[i].startsWith(f.cases));
  if (more && more.picture) parts.push(pictureFigure(more.picture));
  if (more && more.text) parts.push(el('pre', {}, more.text));
  for (const kind of (more ? more.classes : [])) {
    parts.push(el('h3', {}, group(kind.count) + ' × ' + kind.class + ' (' + kind.status + ')'), examples(kind.examples));
  }
  if (!more && BAD.has(statusOf(i))) parts.push(el('p', { class: 'dim' }, 'The examples of this case are in results.jsonl.'));
  if (more && more.profile) parts.push(plot(more.profile, more.operand));
  if (shape) parts.push(footprint(shape));
  return parts;
}

// Pictures: expected, got and difference side by side, with a probe that shows the numbers of a texel.
const READERS = { float: 'getFloat32', int: 'getInt32', uint: 'getUint32' };
function shortest(float) {
  let text = String(float);
  for (let digits = 1; digits < 10 && Number.isFinite(float); digits++) {
    text = String(Number(float.toPrecision(digits)));
    if (Math.fround(text) === float) break;
  }
  return text;
}
function pictureFigure(p) {
  const { scale, gap } = p.layout;
  const columns = 3 * p.width * scale + 2 * gap, rows = p.height * scale;
  const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const expected = bytes(p.expected), got = bytes(p.got), wrong = bytes(p.wrong);
  const numbers = (view, texel) => Array.from({ length: p.channels }, (_, k) => {
    const number = view[READERS[p.number]](4 * (texel * p.channels + k), true);
    return p.number === 'float' ? shortest(number) : String(number);
  }).join(', ');

  const overlay = svg('svg', { viewBox: `0 0 ${columns} ${rows}`, 'aria-hidden': 'true' });
  const parts = [0, 1, 2].map(part => part * (p.width * scale + gap));
  const rect = (left, [x, y, width, height], name) => svg('rect', { class: name, x: left + x * scale, y: y * scale, width: width * scale, height: height * scale });
  // Each part clips what is drawn on it: tiles and aprons reach beyond.
  const layers = parts.map(left => overlay.appendChild(svg('svg', { x: left, width: p.width * scale, height: rows })));
  const tileOf = (x, y) => {
    const { size: [width, height], apron, layer } = p.tiles, row = y % layer;
    const left = x - x % width, top = row - row % height;
    return { left, top: y - row + top, width, height: Math.min(height, layer - top), apron, number: [left / width, top / height] };
  };
  if (p.tiles) {
    for (const layer of layers) {
      for (let y = p.first[1]; y < p.first[1] + p.height;) {
        const row = tileOf(p.first[0], y);
        for (let x = p.first[0]; x < p.first[0] + p.width;) {
          const tile = tileOf(x, y);
          layer.append(rect(0, [tile.left - p.first[0], tile.top - p.first[1], tile.width, tile.height], 'tile'));
          x = tile.left + tile.width;
        }
        y = row.top + row.height;
      }
    }
  }
  const marks = layers.map(layer => layer.appendChild(svg('g', {})));
  const said = el('output', { class: 'probe' });
  let probed = Math.max(0, Array.from({ length: p.width * p.height }, (_, i) => wrong.getUint8(i)).indexOf(1));
  const probe = texel => {
    probed = texel;
    const column = texel % p.width, line = Math.floor(texel / p.width);
    const [x, y] = [column + p.first[0], line + p.first[1]];
    const tile = p.tiles && tileOf(x, y);
    for (const mark of marks) {
      mark.replaceChildren(rect(0, [column, line, 1, 1], 'probed'));
      if (!tile) continue;
      const [left, top] = [tile.left - p.first[0], tile.top - p.first[1]], [ax, ay] = tile.apron;
      mark.append(rect(0, [left - ax, top - ay, tile.width + 2 * ax, tile.height + 2 * ay], 'apron'));
    }
    const within = tile ? `, tile (${tile.number.join(', ')})` : '';
    said.textContent = `texel (${x}, ${y})${within}: expected ${numbers(expected, texel)}; got ${numbers(got, texel)}; ` +
      (wrong.getUint8(texel) ? 'not permitted' : 'permitted');
  };

  const image = el('img', { class: 'picture', alt: 'expected, got, difference, left to right' });
  image.src = p.png;
  let zoom = 1;
  const stage = el('div', { class: 'stage' }, image, overlay);
  const frame = el('div', { class: 'frame', tabindex: 0, role: 'group', 'aria-label': 'Texels; arrow keys probe, + and - zoom',
    onpointermove(event) {
      const box = stage.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * columns, line = Math.floor((event.clientY - box.top) / box.height * p.height);
      const left = parts.findLast(left => at >= left), column = Math.floor((at - left) / scale);
      if (left !== undefined && column < p.width && line >= 0 && line < p.height) probe(line * p.width + column);
    },
    onkeydown(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -p.width, ArrowDown: p.width }[event.key];
      if (step && probed + step >= 0 && probed + step < p.width * p.height) probe(probed + step);
      else if (event.key === '+' || event.key === '=') enlarge(2);
      else if (event.key === '-') enlarge(1 / 2);
      else if (!step) return;
      event.preventDefault();
      event.stopPropagation();
    } }, stage);
  const enlarge = factor => {
    zoom = Math.min(8, Math.max(1, zoom * factor));
    stage.style.width = 100 * zoom + '%';
  };
  probe(probed);
  return el('figure', { class: 'difference' }, frame,
    el('div', { class: 'probing' }, el('button', { type: 'button', 'aria-label': 'Zoom in', onclick() { enlarge(2); } }, '+'),
      el('button', { type: 'button', 'aria-label': 'Zoom out', onclick() { enlarge(1 / 2); } }, '−'), said),
    el('figcaption', {}, el('strong', {}, 'Expected, got, difference'), ' ', p.caption,
      el('br'), 'Difference: black = permitted, red = not permitted; brighter = larger error.',
      p.tiles ? ' Lines: tiles; dashed: the tile of the texel with its apron.' : ''));
}

// Plots.
const SVG = 'http://www.w3.org/2000/svg';
function svg(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text != null) node.textContent = text;
  return node;
}
// Positions in 128ths of the axis.
const TICKS = { f16: [['-inf', 3.98], ['-1', 33.98], ['0', 64], ['1', 94], ['inf', 124]], f32: [['-inf', .5], ['-1', 32.5], ['0', 64], ['1', 95.5], ['inf', 127.5]], f64: [['-inf', 0], ['-1', 32], ['0', 64], ['1', 96], ['inf', 127.9]] };
function plot(profile, operand) {
  const W = 440, H = 166, L = 48, top = 6, bottom = 130, wide = 256, LOW = -10;
  const worst = profile.worst, exponents = worst.filter(m => m > 0).map(m => Math.log2(m));
  const high = Math.min(8, Math.max(1, Math.ceil(Math.max(...exponents, 0))));
  const y = m => m <= 0 ? bottom : top + (bottom - top) * (high - Math.min(high, Math.max(LOW, Math.log2(m)))) / (high - LOW);
  const root = svg('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'error over bound along the first operand, and its distribution' });
  for (let e = LOW; e <= high; e += 2) {
    root.append(svg('line', { class: 'axis', x1: L, x2: L + wide, y1: y(2 ** e), y2: y(2 ** e) }));
    root.append(svg('text', { x: L - 4, y: y(2 ** e) + 3, 'text-anchor': 'end' }, e === 0 ? '1' : '2^' + e));
  }
  const step = wide / worst.length;
  worst.forEach((m, k) => {
    const x = L + k * step;
    if (m == null) { root.append(svg('rect', { class: 'none', x, y: bottom + 1, width: step, height: 2 })); return; }
    const bar = svg('rect', { class: m > 1 ? 'bad' : m > .9 ? 'near' : 'ok', x, y: Math.min(y(m), bottom - 1), width: Math.max(step - .3, .5), height: Math.max(1, bottom - y(m)) });
    bar.append(svg('title', {}, 'bucket ' + k + ' of ' + worst.length + ': ' + margin(m)));
    root.append(bar);
  });
  root.append(svg('line', { class: 'limit', x1: L, x2: L + wide, y1: y(1), y2: y(1) }));
  for (const [text, at] of TICKS[operand] || [['least', 2], ['greatest', 122]]) root.append(svg('text', { x: L + at * wide / 128, y: bottom + 14, 'text-anchor': 'middle' }, text));
  const bins = profile.errors, most = Math.max(...bins, 1), X = L + wide + 28, step2 = (W - X - 4) / bins.length;
  const height = n => n ? Math.max(1.5, (bottom - top) * Math.log2(1 + n) / Math.log2(1 + most)) : 0;
  bins.forEach((n, k) => {
    const bar = svg('rect', { class: k > 11 ? 'bad' : k === 11 ? 'near' : 'ok', x: X + k * step2, y: bottom - height(n), width: step2 - .6, height: height(n) });
    bar.append(svg('title', {}, group(n) + (k === 0 ? ' without error' : k === bins.length - 1 ? ' above 2^7' : ' up to 2^' + (k - 11))));
    root.append(bar);
  });
  root.append(svg('line', { class: 'limit', x1: X + 12 * step2, x2: X + 12 * step2, y1: top, y2: bottom }));
  for (const [text, k] of [['0', .5], ['2^-6', 6], ['1', 12], ['2^7', 18.5]]) root.append(svg('text', { x: X + k * step2, y: bottom + 14, 'text-anchor': 'middle' }, text));
  // Axis titles.
  const name = (x, y, text, turned) => root.append(svg('text', { x, y, 'text-anchor': 'middle', ...(turned ? { transform: `rotate(-90 ${x} ${y})` } : {}) }, text));
  name(9, (top + bottom) / 2, 'error / bound', true);
  name(L + wide / 2, H - 4, 'first operand (' + operand + ')');
  name(X - 8, (top + bottom) / 2, 'results', true);
  name(X + (W - X) / 2, H - 4, 'error / bound');
  return root;
}
const watcher = new IntersectionObserver(entries => { for (const entry of entries) if (entry.isIntersecting) fill(entry.target); }, { rootMargin: '400px' });
function fill(card) {
  watcher.unobserve(card);
  if (card.dataset.drawn) return;
  card.dataset.drawn = '1';
  const p = data.plots[card.dataset.plot];
  card.append(plot(p, p.operand));
}
function plots() {
  const fits = matcher($('plotfilter').value);
  const kept = data.plots.map((p, k) => [p, k]).filter(([p]) => fits((p.instruction + ' ' + p.types).toLowerCase()));
  $('plotsshown').textContent = kept.length + ' of ' + data.plots.length;
  $('plotlist').replaceChildren(...kept.map(([p, k]) => {
    const card = el('div', { class: 'plot', 'data-plot': k }, el('h3', {}, p.instruction + ' ', el('span', { class: 'dim' }, p.types)),
      el('div', { class: 'dim' }, 'greatest margin ' + margin(p.margin) + ' in ' + p.cases + (p.cases === 1 ? ' case' : ' cases') + (multi ? ', ' + data.runs[p.run].device : '')));
    watcher.observe(card);
    return card;
  }));
}
if (!data.plots.length) hideSection('plots');
$('plotfilter').addEventListener('input', plots);
addEventListener('beforeprint', () => document.querySelectorAll('.plot').forEach(fill));
plots();

// Footprints.
for (const f of data.footprints) $('footprintlist').append(footprint(f));
if (data.footprints.length) {
  $('footprints').hidden = false;
  document.querySelector('nav a[href="#footprints"]').hidden = false;
}

// Environment.
for (const run of data.runs) {
  const list = entries => Object.entries(entries).map(([name, value]) => [name, el('code', {}, value)]);
  $('runs').append(el('div', { class: 'case' }, el('h3', {}, run.device),
    facts([...list(run.facts)]), Object.keys(run.environment).length ? el('div', {}, el('h3', {}, 'Environment variables'), facts(list(run.environment))) : null,
    el('details', {}, el('summary', {}, 'properties'), facts(list(run.properties)))));
}
restore();
document.body.dataset.ready = '1';
