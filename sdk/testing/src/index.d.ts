import type { IssuedToken, IssueRequest, TokenAdmin } from "@millrace/client/admin";

/** Where an edge for tests is. */
export interface Edge {
  /** The origin to connect to, over plain HTTP on loopback. */
  readonly url: string;
  readonly httpsUrl: string;
  /** A file with the authority of `httpsUrl`, for NODE_EXTRA_CA_CERTS. */
  readonly caFile: string;
  /** A tenant that its master token manages. */
  readonly tenant: string;
  /** An access token for all channels of the tenant. */
  readonly token: string;
  readonly masterToken: string;
  /** Of this edge. */
  readonly admin: TokenAdmin;
  /** Issues an access token: by default for an hour, and all channels of the tenant. */
  issue(request?: Partial<IssueRequest>): Promise<IssuedToken>;
}

/** An edge that was started here. */
export interface StartedEdge extends Edge, AsyncDisposable {
  /** Ends the edge; its data is removed. Resolves when it has ended. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The program. Default: the variable MILLRACE_BIN, then `millrace` in PATH. */
  readonly program?: string | undefined;
  /** How long it may take to serve, in milliseconds. Default: 30000. */
  readonly timeout?: number | undefined;
}

/** Starts an edge on free ports of loopback, with all it has in a temporary folder. It ends with this process, too. */
export function start(options?: StartOptions): Promise<StartedEdge>;

/** The edge that the global set-up has started, in a test. Throws where none has. */
export function edge(): Edge;
