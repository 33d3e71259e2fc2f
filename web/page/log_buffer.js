// SPDX-License-Identifier: Apache-2.0
// The last lines of a job's workers. Memory is bounded; what is dropped is counted.

const most = 50000; // lines
const mostCharacters = 20000000; // of all lines
const longest = 8192; // characters of a line

// Terminal escape sequences and control characters, which a browser would show as boxes.
// eslint-disable-next-line no-control-regex
const controls = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g;

export function plain(text) {
  const whole = text.length > longest ? `${text.slice(0, longest)} ...[${text.length - longest} characters]` : text;
  return whole.replace(controls, "").replace(/\t/g, "    ");
}

export class LogBuffer {
  constructor() {
    this.lines = []; // {rank, time, text}; rank -1: of the job; note: what gpupool has to say
    this.dropped = 0;
    this.characters = 0;
    this.listeners = [];
  }

  add(lines) {
    for (const [rank, time, text] of lines) this.push({ rank, time, text: plain(text) });
    this.trim();
  }

  note(text, problem) {
    this.push({ rank: -1, time: 0, text: plain(text), note: true, problem });
    this.trim();
  }

  push(line) {
    this.characters += line.text.length;
    this.lines.push(line);
    for (const listener of this.listeners) listener(line);
  }

  // A quarter at once, so that lines are moved seldom.
  trim() {
    if (this.lines.length <= most && this.characters <= mostCharacters) return;
    const away = Math.ceil(this.lines.length / 4);
    for (const line of this.lines.splice(0, away)) this.characters -= line.text.length;
    this.dropped += away;
  }
}
