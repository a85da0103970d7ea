'use strict';
// Buttons that copy the command beside them. Without scripts they stay hidden.
for (const button of document.querySelectorAll('.copy')) {
  const code = button.previousElementSibling;
  button.hidden = false;
  button.addEventListener('click', () => {
    const done = () => { button.textContent = 'copied'; setTimeout(() => { button.textContent = 'copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren(code); if (document.execCommand('copy')) done(); };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select); else select();
  });
}
