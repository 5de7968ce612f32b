/** What this program calls itself: to people, and to servers. */
export const NAME = "mica";
export const VERSION = "0.1.0";
