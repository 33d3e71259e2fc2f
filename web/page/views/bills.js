// SPDX-License-Identifier: Apache-2.0
// What jobs have cost in a month, by the books: also those that were deleted.

import { html, useEffect, useState } from "../vendor/htm-preact.module.js";
import { money } from "../format.js";
import { request } from "../session.js";

export const billTopics = () => ({});

// Lines of entries -> one row for each job and currency, in millionths and GPU-seconds.
export function rowsOf(lines) {
  const rows = new Map();
  for (const line of lines) {
    const key = `${line.namespace}/${line.job} ${line.currency}`;
    const row = rows.get(key) || { key, job: `${line.namespace}/${line.job}`, currency: line.currency, seconds: 0, amount: 0, notes: new Set() };
    const gpus = (line.slices ? line.slices / (line.split || 1) : line.gpus) * line.nodes.length;
    row.seconds += gpus * line.seconds;
    row.amount += millionths(line.amount);
    if (line.note) row.notes.add(line.note);
    rows.set(key, row);
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

// "-1.250000" -> -1250000: sums of these are exact.
function millionths(amount) {
  return Number(amount.replace(".", ""));
}

export function Bills({ ns }) {
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7));
  const [bill, setBill] = useState(null);
  const [told, setTold] = useState("");
  useEffect(() => {
    const given = new AbortController();
    setBill(null);
    setTold("");
    request(`api/bill?namespace=${encodeURIComponent(ns)}&month=${encodeURIComponent(month)}`, undefined, given.signal)
      .then((response) => response.json()).then(setBill)
      .catch((error) => given.signal.aborted || setTold(error.message));
    return () => given.abort();
  }, [ns, month]);
  const rows = bill ? rowsOf(bill.lines) : [];
  return html`<h1>Bills</h1>
    <div class="tools"><label>Month <input type="month" value=${month} onChange=${(e) => e.target.value && setMonth(e.target.value)} /></label></div>
    ${told && html`<div class="trouble" role="alert"><strong>The bill cannot be read now.</strong><pre>${told}</pre></div>`}
    ${!bill && !told && html`<p class="waiting" role="status">Reading the bill …</p>`}
    ${bill && html`<table><caption>${ns ? `Namespace ${ns}` : "All namespaces"}, ${bill.month} (UTC)${bill.closed ? ", closed" : ""}, by the books</caption>
      <thead><tr><th>Job</th><th>GPU-hours</th><th>Amount</th><th>Note</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.key}><td>${row.job}</td><td class="number">${(row.seconds / 3600).toFixed(3)}</td>
        <td class="number">${money(row.amount)} ${row.currency}</td><td>${[...row.notes].join("; ")}</td></tr>`)}</tbody>
      <tfoot>${Object.entries(bill.totals).map(([currency, total]) => html`<tr key=${currency}><th scope="row">Total</th><td></td><td class="number">${total} ${currency}</td><td></td></tr>`)}</tfoot></table>
      ${rows.length === 0 && html`<p>Nothing is billed in this month.</p>`}
      <p class="note">What jobs hold now is not in it; their own pages show that.</p>`}`;
}
