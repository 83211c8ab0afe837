// SPDX-License-Identifier: GPL-2.0
/*
 * What the users of the core have in common.
 */
#include <kunit/static_stub.h>
#include <linux/bug.h>
#include <linux/ratelimit.h>
#include <linux/text_poke.h>

/**
 * text_poke_failed - say that a change could not be made
 * @what:	whose, in words
 * @where:	the site; NULL: that of the batch
 * @error:	what the core returned
 *
 * For a user that has no error to return.  Each failure is said, for the text is
 * not what the user's caller believes, but no more than a few in a row; and none
 * in init text that is about to be freed, in which users may still have sites.
 *
 * Context: Any.
 */
void text_poke_failed(const char *what, const void *where, int error)
{
	/* Any part of a batch that could not be rolled back may be there. */
	const char *how = error == -EIO ? "may have changed" : "unchanged";

	KUNIT_STATIC_STUB_REDIRECT(text_poke_failed, what, where, error);

	if (text_poke_is_dying((unsigned long)where))
		return;
	if (where)
		WARN_RATELIMIT(1, "%s at %pS: error %d, %s\n", what, where,
			       error, how);
	else
		WARN_RATELIMIT(1, "%s: error %d, %s\n", what, error, how);
}
