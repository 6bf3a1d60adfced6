/** The maximum shutdown time of the service, with some margin: every deployment must allow it. */
export const maxShutdownSeconds = 11
