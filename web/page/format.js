// SPDX-License-Identifier: Apache-2.0
// Texts for people. Pure.

export function age(time, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  return Number.isNaN(seconds) ? "" : span(seconds);
}

// 95 -> "1m35s", as kubectl writes it.
export function span(seconds) {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return `${minutes}m${seconds % 60 ? `${seconds % 60}s` : ""}`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${hours < 10 && minutes % 60 ? `${minutes % 60}m` : ""}`;
  return `${Math.floor(hours / 24)}d`;
}

export function clock(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString([], { hour12: false });
}

export function moment(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString([], { hour12: false });
}

export function mebibytes(count) {
  return count >= 1024 ? `${(count / 1024).toFixed(count % 1024 ? 1 : 0)} GiB` : `${count} MiB`;
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    ++unit;
  }
  return `${unit && count < 10 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

export function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

// What a job has cost until now, and costs an hour: "11.10 EUR, 9.60 EUR an hour"; undefined without a bill.
export function cost({ bill, lease }, now = Date.now()) {
  if (!bill) return undefined;
  const open = bill.open || [];
  const unnamed = (lease?.nodes || []).length - open.reduce((sum, part) => sum + (part.nodes || []).length, 0);
  let total = Number(bill.cost || 0), rate = 0;
  for (const part of open) {
    const gpus = (part.slices ? part.slices / (part.split || 1) : part.gpus || 0) * (part.nodes?.length || Math.max(unnamed, 0));
    rate += gpus * Number(part.perGpuHour);
    if (part.from) total += gpus * Number(part.perGpuHour) * Math.max(0, now - Date.parse(part.from)) / 3600000;
  }
  const currency = bill.currency || open[0]?.currency || "";
  return `${total.toFixed(2)} ${currency}${rate > 0 ? `, ${rate.toFixed(2)} ${currency} an hour` : ""}`;
}

// What GPUs of a pool cost now: "1.2 EUR per GPU-hour, H100 3.1"; undefined without a price.
export function poolPrice({ spec, status }, now = Date.now()) {
  const price = spec?.price;
  if (!price) return undefined;
  const begun = (price.schedule || []).filter((change) => Date.parse(change.from) <= now)
    .sort((a, b) => Date.parse(a.from) - Date.parse(b.from)).pop();
  const amount = (price.demand && status?.price?.perGpuHour) || (begun || price).perGpuHour;
  const models = begun?.models?.length ? begun.models : price.models || [];
  return `${Number(amount)} ${price.currency} per GPU-hour${models.map((m) => `, ${m.model} ${Number(m.perGpuHour)}`).join("")}`
    + (price.demand ? ", follows demand" : "");
}

// Millionths of a currency as it is written: -1250000 -> "-1.250000".
export function money(millionths) {
  const digits = String(Math.abs(millionths)).padStart(7, "0");
  return `${millionths < 0 ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

// A Kubernetes quantity such as "1500m" as a number; NaN if it is none.
export function quantity(text) {
  const found = /^([0-9.]+)(m?)$/.exec(text || "");
  return found ? Number(found[1]) / (found[2] ? 1000 : 1) : NaN;
}
