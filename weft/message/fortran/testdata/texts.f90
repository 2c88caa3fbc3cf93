! SPDX-License-Identifier: Apache-2.0
! Texts: padded with blanks when they come, without them when they go.
program texts
  use mpi
  use checks
  implicit none
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_OBJECT_NAME) :: label
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=6) :: short
  integer :: rank, ierror, length, info, other, number, code, class
  logical :: flag
  double precision :: before

  call mpi_initialized(flag, ierror)
  call check(.not. flag, 'not yet')
  call mpi_init_thread(MPI_THREAD_FUNNELED, number, ierror)
  call check(number >= MPI_THREAD_FUNNELED, 'threads')
  call mpi_initialized(flag, ierror)
  call check(flag, 'initialized')
  call mpi_is_thread_main(flag, ierror)
  call check(flag, 'main thread')
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  before = mpi_wtime()
  call check(mpi_wtick() > 0 .and. mpi_wtime() >= before .and. pmpi_wtime() >= before, 'time')
  call mpi_get_version(number, length, ierror)
  call check(number == MPI_VERSION .and. length == MPI_SUBVERSION, 'version')

  name = repeat('x', len(name))
  call mpi_get_processor_name(name, length, ierror)
  call check(length > 0 .and. len_trim(name) == length .and. index(name, achar(0)) == 0, 'name')
  call mpi_get_processor_name(short, length, ierror)
  call check(length <= 6 .and. short == name(1:6), 'short name')
  call mpi_get_library_version(version, length, ierror)
  call check(len_trim(version) == length .and. length > 0, 'library')
  call mpi_error_string(MPI_ERR_TRUNCATE, text, length, ierror)
  call check(len_trim(text) == length .and. length > 5, 'error')

  call mpi_comm_get_name(MPI_COMM_WORLD, label, length, ierror)
  call check(label == 'MPI_COMM_WORLD' .and. length == 14, 'world')
  call mpi_comm_set_name(MPI_COMM_WORLD, ' all of us  ', ierror)
  call mpi_comm_get_name(MPI_COMM_WORLD, label, length, ierror)
  call check(label == ' all of us' .and. length == 10, 'new name')
  call mpi_type_get_name(MPI_DOUBLE_PRECISION, label, length, ierror)
  call check(label(1:length) == 'MPI_DOUBLE_PRECISION', 'type name')

  call mpi_info_create(info, ierror)
  call mpi_info_set(info, '  file ', ' a name with blanks  ', ierror)
  call mpi_info_set(info, 'second', '2', ierror)
  call mpi_info_get_nkeys(info, number, ierror)
  call check(number == 2, 'keys')
  call mpi_info_get_nthkey(info, 0, key, ierror)
  call check(key == 'file', 'key')
  call mpi_info_get_valuelen(info, 'file', number, flag, ierror)
  call check(flag .and. number == 18, 'length of value')
  text = repeat('x', len(text))
  call mpi_info_get(info, 'file   ', len(text), text, flag, ierror)
  call check(flag .and. text == 'a name with blanks', 'value')
  call mpi_info_get(info, 'none', len(text), text, flag, ierror)
  call check(.not. flag .and. text == 'a name with blanks', 'no value')
  number = 0
  call mpi_info_get_string(info, 'file', number, text, flag, ierror)
  call check(flag .and. number == 18, 'length asked')
  number = 6
  call mpi_info_get_string(info, 'file', number, short, flag, ierror)
  call check(flag .and. number == 18 .and. short == 'a name', 'short value')
  call mpi_info_dup(info, other, ierror)
  call mpi_info_delete(other, 'second', ierror)
  call mpi_info_get_nkeys(other, number, ierror)
  call check(number == 1, 'copy')
  call mpi_info_free(other, ierror)
  call mpi_info_free(info, ierror)
  call check(info == MPI_INFO_NULL, 'info freed')
  call mpi_info_create_env(info, ierror)
  call check(ierror == MPI_SUCCESS, 'environment')

  call mpi_add_error_class(class, ierror)
  call mpi_add_error_code(class, code, ierror)
  call mpi_add_error_string(code, 'out of patience ', ierror)
  call mpi_error_string(code, text, length, ierror)
  call check(text == 'out of patience' .and. length == 15, 'own error')
  call mpi_error_class(code, number, ierror)
  call check(number == class, 'class')
  call mpi_pcontrol(1)
  call mpi_finalize(ierror)
  call mpi_finalized(flag, ierror)
  call check(flag, 'finalized')
  call finish('texts', rank)
end program
