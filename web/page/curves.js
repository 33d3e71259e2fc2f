// SPDX-License-Identifier: Apache-2.0
// Curves of the metrics that a job declares (spec.metrics), from the lines that rank 0 prints.

const mostPoints = 4000; // of a series; beyond, every second one is dropped

// name=value, name: value or name value%, of a declared name; not inside a longer word or number.
function pattern(name) {
  const escaped = name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?:^|[^\\w./-])${escaped}\\s*[=:]\\s*([-+]?(?:\\d+\\.?\\d*(?:[eE][-+]?\\d+)?|\\.\\d+(?:[eE][-+]?\\d+)?|nan|inf))(%?)(?![\\w])`, "gi");
}

export function valuesOf(text, patterns) {
  const found = [];
  if (text.startsWith("{")) {
    try {
      const object = JSON.parse(text);
      for (const { name } of patterns) {
        const value = Number(object[name]);
        if (name in object && !Number.isNaN(value)) found.push([name, value]);
      }
      return found;
    } catch {
      // A line that looks like JSON and is none.
    }
  }
  for (const { name, expression } of patterns) {
    expression.lastIndex = 0;
    let last = null;
    for (let match = expression.exec(text); match; match = expression.exec(text)) last = match;
    if (last) found.push([name, Number(last[1]) / (last[2] ? 100 : 1)]);
  }
  return found.filter(([, value]) => Number.isFinite(value));
}

export class Curves {
  constructor(metrics) {
    this.names = metrics?.names || [];
    this.patterns = this.names.map((name) => ({ name, expression: pattern(name) }));
    this.series = new Map(); // name: {times, values} in seconds and as printed
  }

  take(line) {
    if (line.note || !line.time || line.rank !== 0 || this.patterns.length === 0) return;
    for (const [name, value] of valuesOf(line.text, this.patterns)) this.add(name, line.time / 1000, value);
  }

  add(name, time, value) {
    if (!this.series.has(name)) this.series.set(name, { times: [], values: [] });
    const series = this.series.get(name);
    const last = series.times.length - 1;
    // A chart needs times that grow.
    if (last >= 0 && time <= series.times[last]) time = series.times[last] + 0.001;
    series.times.push(time);
    series.values.push(value);
    if (series.times.length > mostPoints) {
      series.times = series.times.filter((_, i) => i % 2 === 0);
      series.values = series.values.filter((_, i) => i % 2 === 0);
    }
  }
}
