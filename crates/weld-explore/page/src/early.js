// Runs before everything else, in browsers of any age: chooses dark or light before anything is seen, and says
// so if the browser cannot run the rest. Old JavaScript on purpose.
(function () {
  var theme = null;
  try {
    theme = localStorage.getItem('weld-theme');
  } catch (error) {
    // Pages from files may have no storage.
  }
  var dark = window.matchMedia && matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.setAttribute('data-theme', theme || (dark ? 'dark' : 'light'));
  var able =
    window.DecompressionStream &&
    window.Response &&
    window.BigUint64Array &&
    'noModule' in document.createElement('script');
  if (!able) {
    window.weldTooOld = true;
    document.getElementById('message-text').textContent =
      'This page needs a newer browser: Chrome or Edge 111, Firefox 115, Safari 16.4, or later.';
  }
})();
