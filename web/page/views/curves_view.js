// SPDX-License-Identifier: Apache-2.0
// The metrics that a job declares: a curve of each from its log, and what the job's status has kept.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.module.js";
import { Curves } from "../curves.js";

const everyMs = 500;

function Chart({ name, series }) {
  const box = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const colour = getComputedStyle(document.body).color;
    const axis = { stroke: colour, grid: { stroke: "rgba(128,128,128,0.3)" } };
    plot.current = new window.uPlot({ width: Math.max(240, box.current.clientWidth), height: 180, legend: { show: true },
      series: [{ label: "time" }, { label: name, stroke: colour, points: { show: series.times.length < 60 } }], axes: [axis, axis] },
    [series.times, series.values], box.current);
    const observer = new ResizeObserver(() => plot.current.setSize({ width: Math.max(240, box.current.clientWidth), height: 180 }));
    observer.observe(box.current);
    return () => {
      observer.disconnect();
      plot.current.destroy();
    };
  }, [name]);
  useEffect(() => plot.current?.setData([series.times, series.values]));
  const last = series.values[series.values.length - 1];
  return html`<figure class="chart"><figcaption>${name}, last ${last}</figcaption><div ref=${box}></div></figure>`;
}

function Kept({ status }) {
  if (!status?.values?.length) return null;
  return html`<table><caption>Metrics of attempt ${status.attempt}</caption><thead><tr><th>Name</th><th>Last</th><th>Step</th><th>Least</th><th>Most</th><th>Values</th></tr></thead>
    <tbody>${status.values.map((v) => html`<tr key=${v.name}><th scope="row">${v.name}</th><td class="number">${v.last}</td><td class="number">${v.step ?? ""}</td>
      <td class="number">${v.min}</td><td class="number">${v.max}</td><td class="number">${v.count}</td></tr>`)}</tbody></table>`;
}

export function CurvesView({ metrics, status, log }) {
  const [curves, setCurves] = useState(null);
  const [, draw] = useState(0);
  useEffect(() => {
    if (!log || !metrics?.names?.length) return undefined;
    const made = new Curves(metrics);
    for (const line of log.lines) made.take(line);
    const listener = (line) => made.take(line);
    log.listeners.push(listener);
    setCurves(made);
    const timer = setInterval(() => draw((n) => n + 1), everyMs);
    return () => {
      log.listeners = log.listeners.filter((other) => other !== listener);
      clearInterval(timer);
    };
  }, [log, metrics]);
  const series = [...(curves?.series || [])];
  if (!metrics?.names?.length && !status?.values?.length) return null;
  return html`<h2>Metrics</h2>
    <div class="charts">${series.map(([name, points]) => html`<${Chart} key=${name} name=${name} series=${points} />`)}</div>
    ${metrics?.names?.length > 0 && series.length === 0 && html`<p class="note">The lines that are shown hold no value of ${metrics.names.join(", ")}.</p>`}
    <${Kept} status=${status} />`;
}
