// Takes the colours and the font of the UI around this frame before anything is drawn, and follows when the UI switches
// between light and dark. It is no module, because a module would run after the first picture.
(() => {
  /** Our name of a colour, and the variable of the UI. Without the UI, those of tabs.css hold. */
  const COLOURS = {
    '--ground': '--chakra-colors-bg',
    '--surface': '--chakra-colors-bg',
    '--subtle': '--chakra-colors-bg-muted',
    '--line': '--chakra-colors-border',
    '--text': '--chakra-colors-fg',
    '--quiet': '--chakra-colors-fg-muted',
    '--accent': '--chakra-colors-brand-solid',
    '--on-accent': '--chakra-colors-brand-contrast',
    '--link': '--chakra-colors-fg-info',
    '--bad': '--chakra-colors-fg-error',
    '--failed': '--chakra-colors-failed-solid',
    '--success': '--chakra-colors-success-solid',
    '--running': '--chakra-colors-running-solid',
    '--upstream-failed': '--chakra-colors-upstream_failed-solid',
    '--font': '--chakra-fonts-body',
    '--mono': '--chakra-fonts-mono',
  };
  if (parent === window) return;
  const theirs = parent.document.documentElement;
  const own = document.documentElement;
  function take() {
    const style = parent.getComputedStyle(theirs);
    for (const [name, source] of Object.entries(COLOURS)) {
      const value = style.getPropertyValue(source).trim();
      if (value !== '') own.style.setProperty(name, value);
    }
    own.style.colorScheme = theirs.classList.contains('dark') ? 'dark' : 'light';
    own.lang = theirs.lang || 'en';
  }
  take();
  new MutationObserver(take).observe(theirs, { attributes: true, attributeFilter: ['class', 'style'] });
})();
