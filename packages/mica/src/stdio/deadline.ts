/** Waiting, but not for ever. */

/** Whether `event` comes within `ms` milliseconds. */
export async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const came = await Promise.race([event.then(() => true), deadline]);
  clearTimeout(timer);
  return came;
}
