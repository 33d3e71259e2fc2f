// SPDX-License-Identifier: Apache-2.0
// What the tab watches: one connection for all topics, opened again when it breaks.

import { RequestError, request } from "./session.js";
import { LogBuffer } from "./log_buffer.js";

// The state of one topic, as far as it was received.
export class TopicState {
  constructor() {
    this.columns = null;
    this.rows = new Map(); // key: cells
    this.objects = new Map(); // key: object
    this.complete = false;
    this.error = null;
    this.log = null; // LogBuffer
    this.ended = false;
    this.version = 0; // grows with each change
  }

  take(message) {
    ++this.version;
    if (message.error) {
      this.error = message.error;
      return;
    }
    this.error = null;
    if (message.reset) {
      // What follows replaces what is shown, but only once it is complete: no view goes empty meanwhile.
      this.fresh = { rows: new Map(), objects: new Map() };
      if (message.columns) this.columns = message.columns;
    }
    const to = this.fresh || this;
    for (const [key, cells] of message.rows || []) to.rows.set(key, cells);
    for (const [key, object] of message.objects || []) to.objects.set(key, object);
    for (const key of message.gone || []) {
      to.rows.delete(key);
      to.objects.delete(key);
    }
    if (message.complete && this.fresh) {
      this.rows = this.fresh.rows;
      this.objects = this.fresh.objects;
      this.fresh = null;
      this.complete = true;
    }
    if (message.begin) {
      this.log = new LogBuffer();
      this.ended = false;
    }
    if (message.lines) this.log?.add(message.lines);
    if (message.note) this.log?.note(message.note, message.problem);
    if (message.end) this.ended = true;
  }
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield line;
  }
}

export class Stream {
  // onChange: something was received. onState: the connection was made or lost. onUnknown: the credentials are
  // not, or no longer, good (401).
  constructor({ onChange, onState, onUnknown }) {
    this.callbacks = { onChange, onState, onUnknown };
    this.topics = new Map(); // id: TopicState
    this.asked = "";
    this.controller = null;
    this.pause = 1000;
    this.connected = false;
  }

  // topics: {id: topic}. Whatever was watched under the same id in the same words keeps its state.
  watch(topics) {
    const list = Object.entries(topics).map(([id, topic]) => ({ id, ...topic }));
    const asked = JSON.stringify(list);
    if (asked === this.asked) return;
    const before = new Map(JSON.parse(this.asked || "[]").map((topic) => [topic.id, JSON.stringify(topic)]));
    const kept = this.topics;
    this.topics = new Map();
    for (const topic of list) {
      const same = before.get(topic.id) === JSON.stringify(topic);
      this.topics.set(topic.id, same ? kept.get(topic.id) : new TopicState());
    }
    this.asked = asked;
    this.open();
  }

  // Opens the connection anew, for instance with other credentials.
  open() {
    this.controller?.abort();
    clearTimeout(this.timer);
    this.pause = 1000;
    if (this.topics.size > 0) this.run(new AbortController());
  }

  close() {
    this.controller?.abort();
    clearTimeout(this.timer);
    this.asked = "";
    this.topics = new Map();
  }

  async run(controller) {
    this.controller = controller;
    const topics = this.topics;
    try {
      const response = await request("api/stream", { topics: JSON.parse(this.asked) }, controller.signal);
      this.tell(true);
      for await (const line of linesOf(response.body)) {
        if (controller.signal.aborted) return;
        this.pause = 1000;
        this.take(JSON.parse(line), topics);
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof RequestError && error.status === 401) {
        this.callbacks.onUnknown(error);
        return;
      }
    }
    if (controller.signal.aborted) return;
    this.tell(false);
    this.timer = setTimeout(() => this.run(new AbortController()), this.pause);
    this.pause = Math.min(10000, this.pause * 2);
  }

  take(message, topics) {
    if (message.ping) return;
    if (message.error && !message.id) {
      this.callbacks.onState(false, message.error.message);
      return;
    }
    if (message.error?.status === 401) {
      this.controller?.abort();
      this.callbacks.onUnknown(new RequestError(401, message.error.message));
      return;
    }
    const topic = topics.get(message.id);
    if (!topic) return;
    topic.take(message);
    this.callbacks.onChange(message.id);
  }

  tell(connected) {
    if (connected === this.connected) return;
    this.connected = connected;
    this.callbacks.onState(connected);
  }
}
