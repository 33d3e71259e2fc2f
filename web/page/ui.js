// SPDX-License-Identifier: Apache-2.0
// Parts that several views share.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.module.js";

// Phases are told by a sign and a word, not by colour alone.
const signs = { Running: "▶", Starting: "▷", Queued: "…", Succeeded: "✓", Failed: "✗", Invalid: "!", Suspended: "‖",
  Releasing: "↩", Restarting: "↻", Yielded: "↩" };

export function Phase({ phase }) {
  if (!phase) return html`<span class="phase">–</span>`;
  return html`<span class="phase phase-${phase.toLowerCase()}"><span aria-hidden="true">${signs[phase] || "·"}</span> ${phase}</span>`;
}

export function jobLink(ns, name) {
  return `#/jobs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`;
}

// What stands in place of a view whose data are missing, or nothing.
export function Trouble({ topic, what }) {
  if (topic?.error) {
    const denied = topic.error.status === 403;
    return html`<div class="trouble" role="alert"><strong>${denied ? `You may not see ${what}.` : `${what} cannot be read now.`}</strong>
      <pre>${topic.error.message}</pre></div>`;
  }
  if (!topic?.complete) return html`<p class="waiting" role="status">Reading ${what} …</p>`;
  return null;
}

// A number as a bar and as text.
export function Bar({ value, most, label }) {
  const part = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return html`<span class="bar"><meter min="0" max="1" value=${part} aria-label=${label}></meter> <span>${label}</span></span>`;
}

// Only the rows on the screen are in the document. rows: as many as there are; row(i) draws one, of `height` px.
// stick: stays at the end while new rows come, until the visitor scrolls up.
export function VirtualRows({ count, height, row, label, stick, onStick, className }) {
  const box = useRef(null);
  const last = useRef(0);
  const [at, setAt] = useState({ top: 0, high: 600 });
  const look = () => {
    const element = box.current;
    if (!element) return;
    setAt({ top: element.scrollTop, high: element.clientHeight });
    const end = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * height;
    // The way counts, too: the first step of a smooth way up is still near the end.
    if (end && element.scrollTop > last.current) onStick?.(true);
    if (!end && element.scrollTop < last.current) onStick?.(false);
    last.current = element.scrollTop;
  };
  // At once, not with the scrolling that follows: new lines would scroll back before it.
  const letGo = (event) => {
    const keys = ["ArrowUp", "PageUp", "Home"];
    if (stick && (event.type !== "wheel" || event.deltaY < 0) && (event.type !== "keydown" || keys.includes(event.key))) onStick?.(false);
  };
  useLayoutEffect(() => {
    if (!stick || !box.current) return;
    box.current.scrollTop = count * height;
    last.current = box.current.scrollTop; // its scroll event comes later: it must not undo what the visitor does until then
  }, [count, stick]);
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const shown = Math.ceil(at.high / height) + 20;
  const first = Math.max(0, Math.min(Math.floor(at.top / height) - 10, count - shown));
  const rows = [];
  for (let i = first; i < Math.min(count, first + shown); ++i) rows.push(row(i));
  return html`<div class="virtual ${className || ""}" ref=${box} onScroll=${look} onWheel=${letGo} onKeyDown=${letGo} onTouchMove=${letGo} onPointerDown=${letGo} tabindex="0" role="region" aria-label=${label}>
    <div class="virtual-all" style=${{ height: `${count * height}px` }}>
      <div style=${{ transform: `translateY(${first * height}px)` }}>${rows}</div>
    </div></div>`;
}

export function Conditions({ conditions }) {
  if (!conditions?.length) return null;
  return html`<table><caption>Conditions</caption><thead><tr><th>Type</th><th>Status</th><th>Reason</th><th>Message</th></tr></thead>
    <tbody>${conditions.map((c) => html`<tr key=${c.type}><td>${c.type}</td><td>${c.status}</td><td>${c.reason}</td><td>${c.message}</td></tr>`)}</tbody></table>`;
}
