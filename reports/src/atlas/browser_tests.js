'use strict';
// Checks of the first page, run in a browser by browser_tests.rs at #filter=exp.
(async () => {
  const lines = [];
  const check = (name, fine, seen) => lines.push((fine ? 'ok ' : 'FAILED ') + name + (fine || seen === undefined ? '' : ': ' + JSON.stringify(seen)));
  const same = (name, seen, expected) => check(name, JSON.stringify(seen) === JSON.stringify(expected), seen);
  const violations = [];
  addEventListener('securitypolicyviolation', event => violations.push(event.blockedURI));
  const wait = () => new Promise(done => setTimeout(done, 50));
  const shown = () => [...document.querySelectorAll('#cells tr[data-row]')].filter(row => !row.hidden).map(row => row.querySelector('th').textContent);
  const cells = name => [...document.querySelectorAll('#cells tr[data-row]')].find(row => row.querySelector('th').textContent === name).querySelectorAll('td a');
  const texts = name => [...cells(name)].map(cell => cell.textContent);
  const choose = (id, text) => {
    const list = document.getElementById(id);
    list.value = [...list.options].find(option => option.textContent === text).value;
    list.dispatchEvent(new Event('change'));
  };
  const type = text => { const filter = document.getElementById('filter'); filter.value = text; filter.dispatchEvent(new Event('input')); };
  const press = key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const params = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  try {
    same('an address filters', [shown(), document.getElementById('shown').textContent], [['Exp2'], '1 of 3 instructions']);
    type('');
    same('every instruction is shown', shown(), ['OpFAdd', 'Exp2', 'Log']);
    same('cells have signs and margins', [texts('OpFAdd'), texts('Exp2'), texts('Log')],
      [['·', '!', '·'], ['0.87', '✗ <1%', '0.87'], ['·', '–', '·']]);
    check('a cell says what it means', cells('Exp2')[1].title.startsWith('Exp2, f32 on test device (testpipe Mesa 22.3.6): Fail in 1 case; margin up to 3.21'), cells('Exp2')[1].title);
    check('a cell has its name for screen readers', cells('Exp2')[1].getAttribute('aria-label') === cells('Exp2')[1].textContent + ' · ' + cells('Exp2')[1].title);
    check('a cell leads to the page', cells('Exp2')[1].getAttribute('href') === 'instructions/exp2.html');
    choose('mode', 'RoundingModeRTE');
    same('a mode is chosen', [texts('OpFAdd'), texts('Exp2'), params()], [['·', '!', '·'], ['·', '·', '·'], { mode: 'RoundingModeRTE' }]);
    choose('mode', 'default');
    same('a mode hides the failures of others', texts('OpFAdd'), ['·', '0.87', '·']);
    choose('mode', 'any');
    same('any mode shows the worst', texts('OpFAdd'), ['·', '!', '·']);
    document.getElementById('notable').click();
    same('only failures and warnings', shown(), ['OpFAdd', 'Exp2']);
    document.getElementById('device').value = '1';
    document.getElementById('device').dispatchEvent(new Event('change'));
    same('failures of a device', [shown(), params().device], [[], '1']);
    check('other devices are hidden', [...document.querySelectorAll('#cells [data-device="0"]')].every(cell => cell.hidden));
    location.hash = '';
    await wait();
    same('the plain address shows all', [shown(), texts('OpFAdd')], [['OpFAdd', 'Exp2', 'Log'], ['·', '!', '·']]);
    location.hash = '#mode=<b>&device=9&shape=any';
    await wait();
    same('a wrong address shows what it can', [shown().length, texts('OpFAdd')], [3, ['·', '!', '·']]);

    const formats = document.querySelector('#cells thead tr:nth-child(2) th');
    same('the formats stick below the devices', getComputedStyle(formats).top, document.querySelector('#cells thead tr').offsetHeight + 'px');

    // The keyboard.
    same('one cell is in the tab order', document.querySelectorAll('#cells a[tabindex="0"]').length, 1);
    document.querySelector('#cells a[tabindex="0"]').focus();
    press('ArrowDown'); press('ArrowRight'); press('ArrowRight');
    check('arrow keys move', document.activeElement === cells('Exp2')[1], document.activeElement.outerHTML);
    press('End');
    check('End moves to the last column', document.activeElement === cells('Exp2')[2]);
    same('still one cell in the tab order', document.querySelectorAll('#cells a[tabindex="0"]').length, 1);

    check('nothing is wider than the window', document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
    const unnamed = [...document.querySelectorAll('button, input, select, a[href]')].filter(node => !node.closest('[hidden]') && !(node.textContent.trim() || node.getAttribute('aria-label') || (node.labels || []).length));
    same('everything that can be used has a name', unnamed.map(node => node.outerHTML), []);
    check('nothing but the style is loaded', performance.getEntriesByType('resource').every(entry => entry.name.endsWith('/style.css')), performance.getEntriesByType('resource').map(entry => entry.name));
  } catch (error) {
    lines.push('FAILED ' + error.stack);
  }
  same('no violation of the policy', violations, []);
  const pre = document.createElement('pre');
  pre.id = 'checks';
  pre.textContent = lines.join('\n');
  document.body.append(pre);
})();
