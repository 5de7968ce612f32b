/** HTTP with credentials, as the wires of earlier revisions need it: a session has clocks of its own. */
import {
  type AuthorizedRequest,
  answeringChallenges,
  challengeIn,
  credentialsFor,
  type HttpAuth,
} from "../../http/client-auth.js";
import { type HttpClient, type HttpSend, statusError } from "./http-client.js";

export interface AuthorizedHttp {
  readonly client: HttpClient;
  /**
   * Begins a session. What challenges one of its requests is dealt with outside of its clocks, and then it is begun
   * anew: a person who signs in takes longer than a handshake may.
   */
  opening<T>(signal: AbortSignal | undefined, begin: () => Promise<T>): Promise<T>;
}

export function authorizedHttp(client: HttpClient, auth: HttpAuth | undefined): AuthorizedHttp {
  if (auth === undefined) return { client, opening: (_, begin) => begin() };
  const { url: server, endpoint } = client;
  let opening: AuthorizedRequest | undefined;

  async function sendOnce(request: HttpSend, authorized: AuthorizedRequest) {
    const incoming = await client.send({ ...request, credentials: () => credentialsFor(auth!, authorized) });
    auth!.onAnswer?.(authorized, incoming.headers);
    if (incoming.statusCode !== 401 && incoming.statusCode !== 403) return incoming;
    const refusal = statusError(incoming, `${endpoint} (${request.method})`, "");
    if (challengeIn(refusal) === undefined) return incoming;
    incoming.resume();
    throw refusal;
  }

  return {
    client: {
      ...client,
      send(request) {
        const { method, signal, hold, url = server } = request;
        const authorized = opening ?? { server, url, method, signal, hold };
        const send = () => sendOnce(request, authorized);
        // Nobody is asked to sign in to say goodbye.
        return opening !== undefined || method === "DELETE"
          ? send()
          : answeringChallenges(auth, authorized, send);
      },
    },
    async opening(signal, begin) {
      opening = { server, url: server, method: "POST", signal };
      try {
        return await answeringChallenges(auth, opening, begin);
      } finally {
        opening = undefined;
      }
    },
  };
}
