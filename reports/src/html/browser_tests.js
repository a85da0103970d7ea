'use strict';
// Checks of the page, run in a browser by browser_tests.rs at #case=p.f32.exp2.3&filter=exp2.
(async () => {
  const lines = [];
  const check = (name, fine, seen) => lines.push((fine ? 'ok ' : 'FAILED ') + name + (fine || seen === undefined ? '' : ': ' + JSON.stringify(seen)));
  const same = (name, seen, expected) => check(name, JSON.stringify(seen) === JSON.stringify(expected), seen);
  const violations = [];
  addEventListener('securitypolicyviolation', event => violations.push(event.blockedURI));
  const errors = [];
  addEventListener('error', event => errors.push(event.message));
  let alerted = false;
  window.alert = () => { alerted = true; };
  const wait = () => new Promise(done => setTimeout(done, 50));
  // Another process walks through the history, in real time, while the page's clock is virtual and runs ahead of it
  // whenever the page is idle. So the page works while it waits.
  const until = async fine => {
    for (let n = 0; n < 400 && !fine(); n++) {
      for (let k = 0, x = 0; k < 2e6; k++) x += Math.sqrt(k);
      await wait();
    }
  };
  const names = () => [...document.querySelectorAll('.row .c-name')].map(cell => cell.textContent);
  const shown = () => document.getElementById('shown').textContent;
  const panel = document.getElementById('detail');
  const press = (key, on = document.getElementById('view')) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const params = () => new URLSearchParams(location.hash.slice(1));
  const filter = document.getElementById('filter');
  const type = text => { filter.value = text; filter.dispatchEvent(new Event('input')); };
  const header = name => document.querySelector(`.head [data-column=${name}]`);
  const selected = () => document.querySelector('.row[aria-selected=true] .c-name')?.textContent;
  try {
    // The address that the page was opened with.
    same('a deep link filters', [filter.value, shown()], ['exp2', '8 of 212']);
    check('a deep link opens its case', !panel.hidden && panel.textContent.includes('p.f32.exp2.3'));
    same('a deep link selects its row', selected(), 'p.f32.exp2.3');

    // Sorting.
    header('failing').firstChild.click();
    same('failing share sorts, largest first', [names()[0], header('failing').getAttribute('aria-sort')], ['p.f32.exp2.5', 'descending']);
    header('name').firstChild.click();
    same('names sort ascending', [names()[0], header('name').getAttribute('aria-sort'), params().get('sort')], ['p.f32.exp2.0', 'ascending', 'name']);
    header('name').firstChild.click();
    same('a second click turns the order', names()[0], 'p.f32.exp2.7');

    // Filtering.
    type('f32 sin.19*');
    same('words and wildcards filter', shown(), '10 of 212');
    same('the filter is in the address', params().get('filter'), 'f32 sin.19*');
    document.querySelector('[data-status=Pass]').click();
    same('a status is hidden', [shown(), params().getAll('hide')], ['0 of 212', ['Pass']]);
    check('an empty table says so', document.getElementById('space').textContent.includes('No case matches'));
    document.querySelector('[data-status=Pass]').click();
    type('');
    same('all cases are shown again', shown(), '212 of 212');

    // Changes since the earlier run.
    const since = document.getElementById('since');
    check('the page says that the run is worse', since.querySelector('strong').textContent.startsWith('Worse than '), since.textContent);
    same('changes are counted', [...since.querySelectorAll('[data-select]')].map(button => button.textContent), ['8 new failures']);
    check('a case that is gone is named', since.textContent.includes('1 missing case') && since.textContent.includes('p.f32.gone'));
    check('a new cause is listed', since.textContent.includes('Exp2 (p): moderate operands, FewUlp: new, 8 cases'));
    since.querySelector('[data-select]').click();
    same('changes filter', [shown(), since.querySelector('[data-select]').getAttribute('aria-pressed')], ['8 of 212', 'true']);
    since.querySelector('[data-select]').click();
    same('a second click shows all', shown(), '212 of 212');

    // Causes.
    const titles = [...document.querySelectorAll('.cause .title')];
    same('each cause is listed once', titles.map(title => title.textContent),
      ['Exp2 (p): moderate operands, FewUlp', 'Log (p): moderate operands, FewUlp', 'Log (p): Timeout, Timeout for a reason']);
    titles[0].click();
    same('a cause filters', [shown(), titles[0].getAttribute('aria-pressed'), params().get('cause')], ['8 of 212', 'true', titles[0].textContent]);
    history.back();
    await until(() => shown() === '212 of 212');
    same('back undoes it', [shown(), titles[0].getAttribute('aria-pressed')], ['212 of 212', 'false']);
    history.forward();
    await until(() => shown() === '8 of 212');
    same('forward does it again', shown(), '8 of 212');
    document.getElementById('nocause').click();
    same('the cause is removed', shown(), '212 of 212');

    // The keyboard.
    press('Escape', document.body);
    check('Escape closes the case', panel.hidden && !params().has('case'));
    header('name').firstChild.click();
    press('Home');
    press('ArrowDown');
    press('ArrowDown');
    same('arrow keys move the selection', selected(), names()[2]);
    press('End');
    same('End selects the last row', selected(), 'p.f32.sin.199');
    press('Enter');
    check('Enter opens the case', !panel.hidden && panel.textContent.includes('p.f32.sin.199') && document.activeElement === panel);
    press('ArrowUp');
    check('an open case follows the selection', panel.textContent.includes('p.f32.sin.198') && params().get('case') === 'p.f32.sin.198');
    press('/', document.body);
    check('/ focuses the filter', document.activeElement === filter);

    // The picture of a failing image: 32 of its 40 columns, from (4, 0) on.
    location.hash = '#case=p.f32.exp2.7';
    await wait();
    const probed = () => panel.querySelector('.probe').textContent;
    const texels = panel.querySelector('.frame');
    same('the first wrong texel is probed', probed(), 'texel (20, 1), tile (1, 0): expected 7.5, -1; got 0.1, -1; not permitted');
    press('ArrowLeft', texels);
    press('ArrowDown', texels);
    same('arrow keys probe', probed(), 'texel (19, 2), tile (1, 1): expected 12.375, -1; got 12.375, -1; permitted');
    for (let n = 0; n < 40; n++) press('ArrowDown', texels);
    same('the probe stays inside', probed(), 'texel (19, 2), tile (1, 1): expected 12.375, -1; got 12.375, -1; permitted');
    const box = panel.querySelector('.stage').getBoundingClientRect();
    // The first texel of the second part: 32 texels of 8 pixels and a gap of 8 before it.
    const point = new PointerEvent('pointermove', { clientX: box.left + box.width * (264 + 4) / 784, clientY: box.top + 1, bubbles: true });
    texels.dispatchEvent(point);
    same('the pointer probes', probed(), 'texel (4, 0), tile (0, 0): expected 0.5, -1; got 0.5, -1; permitted');
    press('+', texels);
    check('+ zooms', panel.querySelector('.stage').getBoundingClientRect().width > 1.9 * box.width);
    same('tiles are drawn', panel.querySelectorAll('.tile').length, 3 * 6);

    // Names from outside.
    for (const name of ["p.f32.<img src=x onerror=alert(1)>", 'p.f32.it\'s "$(here)"; `x`', 'p.f32.#case=p&filter=%41+b']) {
      location.hash = new URLSearchParams([['case', name]]);
      await wait();
      same('an address leads to ' + name, panel.querySelector('h3').textContent, name);
      check('it is inert', !panel.querySelector('h3').children.length && !document.querySelector('img[src=x]'));
      const command = [...panel.querySelectorAll('.command code')].map(code => code.textContent).find(text => text.startsWith('assay run'));
      check('its command is quoted', command.startsWith("assay run '" + name.replaceAll("'", "'\\''") + "' --"), command);
    }
    location.hash = '#case=p.f32.sin.000&run=7&cause=none&sort=-none&hide=All';
    await wait();
    same('a wrong address shows what it can', [panel.hidden, shown()], [true, '212 of 212']);

    // Narrow enough for a window of any width.
    check('nothing is wider than the window', document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
    const unnamed = [...document.querySelectorAll('button, input, a[href]')].filter(node => !node.closest('[hidden]') && !(node.textContent.trim() || node.getAttribute('aria-label') || (node.labels || []).length));
    same('everything that can be used has a name', unnamed.map(node => node.outerHTML), []);
    same('no request', performance.getEntriesByType('resource').map(entry => entry.name), []);
  } catch (error) {
    lines.push('FAILED ' + error.stack);
  }
  same('no violation of the policy', violations, []);
  same('no error', errors, []);
  check('no script from a name ran', !alerted);
  const pre = document.createElement('pre');
  pre.id = 'checks';
  pre.textContent = lines.join('\n');
  document.body.append(pre);
})();
