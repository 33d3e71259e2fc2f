// SPDX-License-Identifier: Apache-2.0
// The rows of a table topic as objects with a member for each column.

const known = new WeakMap(); // topic: {version, rows}

export function objectRows(topic) {
  if (!topic?.columns) return [];
  const before = known.get(topic);
  if (before?.version === topic.version) return before.rows.slice();
  const rows = [];
  for (const [key, cells] of topic.rows) {
    const row = { key };
    topic.columns.forEach((column, i) => {
      row[column] = cells[i];
    });
    const slash = key.indexOf("/");
    row.Namespace = row.Namespace || (slash < 0 ? "" : key.slice(0, slash));
    rows.push(row);
  }
  known.set(topic, { version: topic.version, rows });
  return rows.slice();
}
