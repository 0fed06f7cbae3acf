// Inspects a page of `mpress report` as it is drawn. The findings are written into the page, from which xtask reads them.
(() => {
  const wrong = [];
  // The contrast of two colours in the browser's notation, by WCAG 2: from 1, indistinguishable, to 21.
  const luminance = (colour) => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const page = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (colour) => {
    const other = luminance(colour);
    return (Math.max(page, other) + 0.05) / (Math.min(page, other) + 0.05);
  };
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is wider than the window");
  const charts = [...document.querySelectorAll("svg")];
  let marks = 0;
  for (const chart of charts) {
    const say = (what) => wrong.push(`${chart.getAttribute("aria-label")}: ${what}`);
    const frame = chart.getBoundingClientRect();
    const isInside = (box) =>
      box.left >= frame.left - 2 && box.right <= frame.right + 2 && box.top >= frame.top - 2 && box.bottom <= frame.bottom + 2;
    const drawn = [...chart.querySelectorAll("rect")].filter((mark) => {
      const box = mark.getBoundingClientRect();
      if (!isInside(box)) say(`a mark is outside: ${mark.textContent}`);
      if (contrast(getComputedStyle(mark).fill) < 1.4) say(`a mark has the colour of the page: ${mark.textContent}`);
      return box.width > 0.5 && box.height > 0.5;
    });
    if (drawn.length === 0) say("there are no marks");
    marks += drawn.length;
    const texts = [...chart.querySelectorAll("text")].map((text) => ({ text, box: text.getBoundingClientRect() }));
    for (const { text, box } of texts) {
      if (!isInside(box)) say(`a text is outside: ${text.textContent}`);
      if (box.height < 9) say(`a text is too small: ${text.textContent}`);
      if (contrast(getComputedStyle(text).fill) < 4.5) say(`a text cannot be read: ${text.textContent}`);
    }
    texts.forEach((one, at) => {
      for (const other of texts.slice(at + 1)) {
        const [a, b] = [one.box, other.box];
        // Lines of text may touch.
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 4) say(`"${one.text.textContent}" is over "${other.text.textContent}"`);
      }
    });
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const found = document.createElement("pre");
  found.id = "found";
  // Without characters that HTML would escape.
  found.textContent = encodeURIComponent(JSON.stringify({ width: innerWidth, dark, charts: charts.length, marks, wrong }));
  // The page may be in a frame.
  parent.document.body.append(found);
  console.log("looked");
})();
