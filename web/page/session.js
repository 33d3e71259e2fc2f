// SPDX-License-Identifier: Apache-2.0
// Who the visitor is, and requests with the visitor's credentials. Credentials are kept in memory; in this tab's
// session storage only if the visitor asks for that. They are in no address and no cookie.

const stored = "gpupool-token";
const credentials = { key: "", token: "" };

// Takes the key out of the address, so that it is in no bookmark and not on the screen.
export function takeKey() {
  const found = /^#k=([0-9a-f]{32})(?:&(.*))?$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("gpupool-key", found[1]);
    history.replaceState(null, "", `#${found[2] || "/pools"}`);
  }
  credentials.key = sessionStorage.getItem("gpupool-key") || "";
  credentials.token = sessionStorage.getItem(stored) || "";
}

export function signIn(token, keep) {
  credentials.token = token.trim();
  if (keep) sessionStorage.setItem(stored, credentials.token);
  else sessionStorage.removeItem(stored);
}

export function signOut() {
  credentials.token = "";
  sessionStorage.removeItem(stored);
}

export function signedInByToken() {
  return credentials.token !== "";
}

function headers() {
  const all = {};
  if (credentials.key) all["X-Gpupool-Key"] = credentials.key;
  if (credentials.token) all.Authorization = `Bearer ${credentials.token}`;
  return all;
}

export class RequestError extends Error {
  constructor(status, message, mode) {
    super(message);
    this.status = status;
    this.mode = mode;
  }
}

// The response of a request that was answered well. Throws RequestError; status 0: there was no answer.
export async function request(path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: headers(),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    throw new RequestError(0, "The server of this page does not answer.");
  }
  if (response.ok) return response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Not JSON: the status says enough.
  }
  throw new RequestError(response.status, told.error || `The server answered ${response.status}.`, told.mode);
}

export async function readSession() {
  return (await request("api/session")).json();
}

// Whether the visitor may do each of these; false for all if that cannot be found out.
export async function mayAll(questions) {
  try {
    return await (await request("api/access", questions)).json();
  } catch {
    return questions.map(() => false);
  }
}
