// Keys, wherever the focus is, but not where text is typed.

import { byId } from './dom.js';

/** Lets keys drive `app`. */
export function listenToKeys(app) {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    if (target.closest?.('dialog[open]')) return;
    if (target.id === 'find') {
      if (event.key === 'Escape') {
        if (target.value) app.frame.clearSearch();
        else target.blur();
        event.preventDefault();
      }
      return;
    }
    if (target.closest?.('select')) return;
    if (act(app, event)) event.preventDefault();
  });
}

function act(app, event) {
  const { key, target } = event;
  const onButton = target.closest?.('button, summary, a');
  switch (key) {
    case '/':
      byId('find').focus();
      byId('find').select();
      return true;
    case '?':
      byId('help').showModal();
      return true;
    case 'Escape':
    case 'Backspace':
      if (key === 'Escape' && app.selected) app.select(null);
      else app.out();
      return true;
    case 'ArrowLeft':
      return move(app, -1, 0);
    case 'ArrowRight':
      return move(app, 1, 0);
    case 'ArrowUp':
      return move(app, 0, -1);
    case 'ArrowDown':
      return move(app, 0, 1);
    case 'Enter':
      if (onButton || !app.selected) return false;
      app.open(app.picture.boxOf(app.selected)?.node ?? app.selected);
      return true;
    case 'd':
      app.switchTheme();
      return true;
    case 'l':
      app.frame.showLibraries();
      return true;
    case 't':
      app.frame.toggleSide();
      return true;
    case 'g':
      app.update({ tab: app.state.tab === 'groups' ? 'pieces' : 'groups' });
      return true;
    default:
      if (key >= '1' && key <= String(app.groupings.length)) {
        app.update({ by: app.groupings[key - 1].id });
        return true;
      }
      return false;
  }
}

function move(app, dx, dy) {
  const next = app.picture.neighbour(dx, dy);
  if (next) app.select(next);
  return true;
}
