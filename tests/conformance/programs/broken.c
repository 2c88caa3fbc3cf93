/* SPDX-License-Identifier: Apache-2.0 */
/* Does not compile. */
#include <no_such_header.h>
