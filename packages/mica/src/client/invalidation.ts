/** What each change makes stale (server/utilities/caching, Interaction with Notifications). */
import type { SubscriptionFilter } from "../protocol/features.js";
import type { ResultCache } from "./cache.js";
import type { SubscriptionEvent } from "./listen-reader.js";
import type { KnownTools } from "./tools.js";

export interface Invalidation {
  /** "The notification invalidates the cached response." */
  onChange(event: SubscriptionEvent): void;
  /** Nothing was heard for a while of what a subscription listens for. */
  onGap(filter: SubscriptionFilter): void;
}

export function createInvalidation(cache: ResultCache, tools: KnownTools): Invalidation {
  const onChange = (event: SubscriptionEvent) => {
    switch (event.type) {
      case "toolsListChanged":
        cache.dropMethod("tools/list");
        tools.forget();
        break;
      case "promptsListChanged":
        cache.dropMethod("prompts/list");
        break;
      case "resourcesListChanged":
        cache.dropMethod("resources/list");
        cache.dropMethod("resources/templates/list");
        break;
      case "resourceUpdated":
        cache.dropResource(event.uri);
    }
  };
  return {
    onChange,
    onGap({ resourceSubscriptions = [], taskIds: _, ...flags }) {
      for (const type of Object.keys(flags) as (keyof typeof flags)[]) onChange({ type });
      for (const uri of resourceSubscriptions) onChange({ type: "resourceUpdated", uri });
    },
  };
}
