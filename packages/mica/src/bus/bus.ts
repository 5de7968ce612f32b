/** Where change notifications travel between whoever changes something and whoever listens. */

/** Something changed: a list, the resource at a URI, or a task. */
export type ChangeEvent =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | {
      readonly kind: "resource";
      readonly uri: string;
      /** Whose resource: only subscribers of this tenant are told. Default: all of them. */
      readonly tenant?: string | undefined;
    }
  /** What became of it is in the store of tasks: the id alone travels. */
  | { readonly kind: "task"; readonly taskId: string };

/**
 * Carries change events to every listener, in this process or, for buses over a broker, in others too.
 * A server publishes when its lists change or `resourceUpdated` is called, and listens while it has subscribers.
 */
export interface ChangeBus {
  /** Hands an event to every listener. Called at most once per change; must not throw. */
  publish(event: ChangeEvent): void;
  /** Calls `listener` for every event from now on; the returned function ends that. */
  subscribe(listener: (event: ChangeEvent) => void): () => void;
}
